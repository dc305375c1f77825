import { randomBytes } from "node:crypto"

const maxKeyBytes = 1024

export const alignWord = (bytes: number): number => (bytes + 3) & ~3

/**
 * Holds the bytes and the hash of one key. Keys are compared by 32-bit words, because this is faster than comparing the
 * characters of strings.
 */
export class SlabKey {
  readonly #bytes = new Uint8Array(maxKeyBytes + 4)
  readonly words = new Int32Array(this.#bytes.buffer)
  readonly #encoder = new TextEncoder()
  // Seed and factor of the hash are random, so that a client cannot choose keys with equal hashes.
  readonly #seed = randomBytes(4).readInt32LE()
  readonly #factor = randomBytes(4).readInt32LE() | 1
  length = 0
  hash = 0

  /** Replaces the held key. Returns false if the key is empty, too long or not ASCII. */
  load(key: string): boolean {
    const { read, written } = this.#encoder.encodeInto(key, this.#bytes)
    if (read !== written || written > maxKeyBytes || written === 0) {
      this.length = 0
      return false
    }
    for (let at = written; at & 3; at++) this.#bytes[at] = 0
    let hash = this.#seed
    const end = alignWord(written) >> 2
    for (let at = 0; at < end; at++) hash = Math.imul(hash ^ this.words[at]!, this.#factor)
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    this.hash = (hash ^ (hash >>> 13)) >>> 0
    this.length = written
    return true
  }
}
