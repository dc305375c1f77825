import { blake2b } from "@noble/hashes/blake2.js"
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js"

const blake2b256 = (bytes: Uint8Array): Uint8Array => blake2b(bytes, { dkLen: 32 })

/** The Merkle root of an id without records: the hash of the empty string. An id with records never has this root. */
const emptyRoot = bytesToHex(blake2b256(new Uint8Array(0)))

/**
 * Returns the Merkle root of record hashes as lower-case hex. The hashes are sorted by their bytes. Then each pair of
 * hashes is hashed, level by level, until one hash is left. If a level has an odd number of hashes, the last one is
 * moved to the next level unchanged. The root of one record is the hash of that record.
 */
export const merkleRoot = (recordHashes: ReadonlyArray<string>): string => {
  // Lower-case hex strings of equal length have the same order as their bytes.
  let level: ReadonlyArray<Uint8Array> = recordHashes.toSorted().map((hash) => hexToBytes(hash))
  if (level.length === 0) return emptyRoot
  while (level.length > 1) {
    const next: Array<Uint8Array> = []
    for (let place = 0; place < level.length; place += 2) {
      const left = level[place]!
      const right = level[place + 1]
      next.push(right === undefined ? left : blake2b256(concatBytes(left, right)))
    }
    level = next
  }
  return bytesToHex(level[0]!)
}
