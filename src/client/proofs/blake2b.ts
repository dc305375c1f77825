/** The initial state of RFC 7693: the fractional parts of the square roots of the first eight primes. */
const initial = BigUint64Array.of(
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
)

/** The order of the message words in each round, one hex digit for each word. */
const orders = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0",
  "0123456789abcdef",
  "ea489fd61c02b753",
].map((order) => Array.from(order, (digit) => Number.parseInt(digit, 16)))

const columns = [0, 1, 2, 3].map((n) => [n, n + 4, n + 8, n + 12] as const)
const diagonals = [0, 1, 2, 3].map(
  (n) => [n, 4 + ((n + 1) & 3), 8 + ((n + 2) & 3), 12 + ((n + 3) & 3)] as const,
)
const mixes = [...columns, ...diagonals]

const blockBytes = 128
const hashBytes = 32

const rotated = (value: bigint, bits: bigint): bigint =>
  BigInt.asUintN(64, (value >> bits) | (value << (64n - bits)))

const mix = (v: BigUint64Array, [a, b, c, d]: (typeof mixes)[number], x: bigint, y: bigint): void => {
  v[a] = v[a]! + v[b]! + x
  v[d] = rotated(v[d]! ^ v[a]!, 32n)
  v[c] = v[c]! + v[d]!
  v[b] = rotated(v[b]! ^ v[c]!, 24n)
  v[a] = v[a]! + v[b]! + y
  v[d] = rotated(v[d]! ^ v[a]!, 16n)
  v[c] = v[c]! + v[d]!
  v[b] = rotated(v[b]! ^ v[c]!, 63n)
}

/**
 * Returns the Blake2b hash of 32 bytes (RFC 7693). The runtimes do not have it, and a library for it is larger than the whole
 * verifier. It hashes public data only, so it needs no protection against timing.
 */
export const blake2b = (message: Uint8Array): Uint8Array<ArrayBuffer> => {
  const state = initial.slice()
  state[0]! ^= 0x0101_0000n ^ BigInt(hashBytes)
  const blocks = Math.max(1, Math.ceil(message.length / blockBytes))
  for (let block = 0; block < blocks; block++) {
    const bytes = new Uint8Array(blockBytes)
    bytes.set(message.subarray(block * blockBytes, (block + 1) * blockBytes))
    const view = new DataView(bytes.buffer)
    const words = Array.from({ length: 16 }, (_, word) => view.getBigUint64(word * 8, true))
    const v = BigUint64Array.of(...state, ...initial)
    v[12]! ^= BigInt(Math.min(message.length, (block + 1) * blockBytes))
    if (block === blocks - 1) v[14] = ~v[14]!
    for (const order of orders)
      for (const [place, lanes] of mixes.entries())
        mix(v, lanes, words[order[2 * place]!]!, words[order[2 * place + 1]!]!)
    for (let n = 0; n < 8; n++) state[n]! ^= v[n]! ^ v[n + 8]!
  }
  const hash = new DataView(new ArrayBuffer(hashBytes))
  for (let word = 0; word < hashBytes / 8; word++) hash.setBigUint64(word * 8, state[word]!, true)
  return new Uint8Array(hash.buffer)
}
