import { blake2b } from "@noble/hashes/blake2.js"
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js"

const blake2b256 = (bytes: Uint8Array): Uint8Array => blake2b(bytes, { dkLen: 32 })

/** The root of an id without records: the hash of the empty string. It differs from every other root. */
const emptyRoot = bytesToHex(blake2b256(new Uint8Array(0)))

/**
 * Returns the Merkle root of record hashes (lower-case hex). The hashes are sorted by their bytes, then hashed in
 * pairs, level by level. An odd node moves up unchanged. The root of one record is the hash of that record.
 */
export const merkleRoot = (recordHashes: ReadonlyArray<string>): string => {
  // Hex strings of equal length and case sort like their bytes.
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
