import { ristretto255 } from "@noble/curves/ed25519.js"
import { blake2b } from "@noble/hashes/blake2.js"

const { Point } = ristretto255
const order = Point.Fn.ORDER
const encoded = /^[0-9a-f]{64}$/i

const littleEndian = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`)

/** Decodes a point of 64 hex digits. Undefined if the text is not the one valid encoding of a point. */
const findPoint = (text: string) => {
  if (!encoded.test(text)) return undefined
  try {
    return Point.fromBytes(Buffer.from(text, "hex"))
  } catch {
    return undefined
  }
}

/** Decodes a scalar. Undefined if it is not below the group order: otherwise one signature would have two spellings. */
const findScalar = (text: string): bigint | undefined => {
  if (!encoded.test(text)) return undefined
  const scalar = littleEndian(Buffer.from(text, "hex"))
  return scalar < order ? scalar : undefined
}

/** Decodes a public key. The identity is refused, because with it every s and R = s·G would be a signature. */
const findKey = (text: string) => {
  const point = findPoint(text)
  return point?.is0() ? undefined : point
}

/** Returns a Ristretto255 public key in lower case, or undefined if the text is not a valid key. */
export const readRistrettoKey = (text: string): string | undefined =>
  findKey(text) === undefined ? undefined : text.toLowerCase()

/**
 * Whether `signature` (the scalar s) and `nonce` (the point R) satisfy s·G = R + e·P, with e the Blake2b-256 of the
 * message. Existing clients sign in this way. The challenge e does not depend on R, so anyone can choose s and compute
 * R = s·G − e·P for a public key P: the equation does not prove that the signer has the private key. SECURITY.md says
 * what limits the codes that list such a key.
 */
export const ristrettoSigned = (
  pubkey: string,
  message: string,
  { nonce, signature }: { readonly nonce: string; readonly signature: string },
): boolean => {
  const key = findKey(pubkey)
  const commitment = findPoint(nonce)
  const scalar = findScalar(signature)
  if (key === undefined || commitment === undefined || scalar === undefined) return false
  const challenge = littleEndian(blake2b(new TextEncoder().encode(message), { dkLen: 32 })) % order
  // These multiplications accept 0. Their running time depends on the scalars, which are not secret here.
  return Point.BASE.multiplyUnsafe(scalar).equals(commitment.add(key.multiplyUnsafe(challenge)))
}
