import { randomBytes } from "node:crypto"
import { ristretto255 } from "@noble/curves/ed25519.js"
import { blake2b } from "@noble/hashes/blake2.js"

const { Point } = ristretto255
export const groupOrder = Point.Fn.ORDER

const readScalar = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`) % groupOrder
export const writeScalar = (scalar: bigint): string =>
  Buffer.from(scalar.toString(16).padStart(64, "0"), "hex").reverse().toString("hex")
const challengeOf = (alternateId: string) => readScalar(blake2b(Buffer.from(alternateId), { dkLen: 32 }))

/** Signs an alternate_id as existing clients do: s = r + e·k, R = r·G, e = Blake2b-256 of the alternate_id. */
export const makeRistrettoSigner = (secret = readScalar(randomBytes(64))) => {
  const pubkey = Point.BASE.multiply(secret).toHex()
  const sign = (alternateId: string) => {
    const random = readScalar(randomBytes(64))
    const signature = writeScalar((random + challengeOf(alternateId) * secret) % groupOrder)
    return { pubkey, nonce: Point.BASE.multiply(random).toHex(), signature }
  }
  return { pubkey, sign }
}

/** Makes a signature from the public key alone: s is chosen freely, and R = s·G − e·P. */
export const forge = (pubkey: string, alternateId: string) => {
  const scalar = readScalar(randomBytes(64))
  const commitment = Point.BASE.multiply(scalar).subtract(
    Point.fromHex(pubkey).multiply(challengeOf(alternateId)),
  )
  return { pubkey, nonce: commitment.toHex(), signature: writeScalar(scalar) }
}
