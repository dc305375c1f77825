import { createPublicKey, verify } from "node:crypto"
import { ed25519 } from "@noble/curves/ed25519.js"
import { blake2b } from "@noble/hashes/blake2.js"
import { Data, Effect } from "effect"

export class PubkeyInvalid extends Data.TaggedError("PubkeyInvalid")<{
  readonly reason: "malformed" | "not_on_curve"
}> {}

const pubkeyPattern = /^[0-9a-f]{64}$/i
const signaturePattern = /^[0-9a-f]{128}$/i

/**
 * Undefined if the bytes are not a point, are out of range, or are one of the eight points that accept any signature.
 */
const findPoint = (bytes: Uint8Array) => {
  try {
    const point = ed25519.Point.fromBytes(bytes, false)
    return point.isSmallOrder() ? undefined : point
  } catch {
    return undefined
  }
}

/** Parses an Ed25519 public key of 64 hex digits and returns it in lower case. */
export const checkPubkey = Effect.fnUntraced(function* (text: string) {
  if (!pubkeyPattern.test(text)) return yield* new PubkeyInvalid({ reason: "malformed" })
  if (!findPoint(Buffer.from(text, "hex"))?.isTorsionFree()) {
    return yield* new PubkeyInvalid({ reason: "not_on_curve" })
  }
  return text.toLowerCase()
})

/** Verifies a signature. Uses node:crypto: 0.5 ms with the point check, compared with 2 ms for noble. */
export const pubkeySigned = (pubkey: string, message: Uint8Array, signature: string): boolean => {
  if (!pubkeyPattern.test(pubkey) || !signaturePattern.test(signature)) return false
  const bytes = Buffer.from(pubkey, "hex")
  if (findPoint(bytes) === undefined) return false
  const key = createPublicKey({
    format: "jwk",
    key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") },
  })
  return verify(null, message, key, Buffer.from(signature, "hex"))
}

/**
 * The message that a key signs to prove its owner. It is text, so it cannot equal a Merkle root or an activation
 * message.
 */
export const ownershipMessage = (userId: string): Uint8Array =>
  new TextEncoder().encode(`Emoji Id Directory: this key belongs to the user ${userId}`)

/** The message that a pubkey listed on a code signs, to let a user get a random id with the code. */
export const activationMessage = (alternateId: string, nonce: string): Uint8Array =>
  blake2b(new TextEncoder().encode(alternateId + nonce), { dkLen: 32 })
