import { blake2b } from "@noble/hashes/blake2.js"
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js"

const blake2b256 = (bytes: Uint8Array): Uint8Array => blake2b(bytes, { dkLen: 32 })

/** An id without records: the hash of nothing, which no pair of nodes and no record hashes to. */
const emptyRoot = bytesToHex(blake2b256(new Uint8Array(0)))

/**
 * The root over record hashes (lower-case hex) in byte order: neighbours are hashed in pairs, level by level, and a node
 * without a neighbour moves up as it is. Of one record it is that record's hash.
 */
export const merkleRoot = (recordHashes: ReadonlyArray<string>): string => {
  // Of equal length and case, hex sorts as its bytes do.
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
