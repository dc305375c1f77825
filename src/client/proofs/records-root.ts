import { blake2b } from "./blake2b.ts"

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

export const bytesOfHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

const join = (...parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]))

/** The tags whose data is hex digits, completely or in its first 40 characters. */
const hexTags = [0x0101, 0x0103]
const ethereum = 0x1004

/** Returns the hash of a record as hex, made from its tag and data, whatever hash the answer names. */
export const recordHash = (tag: string, data: string): string => {
  const number = Number.parseInt(tag, 16)
  const hexEnd = hexTags.includes(number) ? data.length : number === ethereum ? 40 : 0
  return hexOf(
    blake2b(
      join(
        Uint8Array.of(number & 255, number >> 8),
        bytesOfHex(data.slice(0, hexEnd)),
        new TextEncoder().encode(data.slice(hexEnd)),
      ),
    ),
  )
}

/** Returns the Merkle root of record hashes as hex. */
export const recordsRoot = (hashes: ReadonlyArray<string>): string => {
  let level = [...hashes].sort().map(bytesOfHex)
  if (level.length === 0) return hexOf(blake2b(new Uint8Array()))
  while (level.length > 1)
    level = level.flatMap((left, place) => {
      const right = level[place + 1]
      return place % 2 === 1 ? [] : [right === undefined ? left : blake2b(join(left, right))]
    })
  return hexOf(level[0]!)
}
