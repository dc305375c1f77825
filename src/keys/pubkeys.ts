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
 * Returns the point of the curve that the bytes encode. Undefined if the bytes are out of range or not a point, or if
 * the point has small order: such a point accepts a signature for any message.
 */
const findPoint = (bytes: Uint8Array) => {
  try {
    const point = ed25519.Point.fromBytes(bytes, false)
    return point.isSmallOrder() ? undefined : point
  } catch {
    return undefined
  }
}

/**
 * Parses an Ed25519 public key of 64 hex digits and returns it in lower case. Fails if it is not a valid point of the
 * curve.
 */
export const checkPubkey = Effect.fnUntraced(function* (text: string) {
  if (!pubkeyPattern.test(text)) return yield* new PubkeyInvalid({ reason: "malformed" })
  if (!findPoint(Buffer.from(text, "hex"))?.isTorsionFree()) {
    return yield* new PubkeyInvalid({ reason: "not_on_curve" })
  }
  return text.toLowerCase()
})

/**
 * Whether `signature` is a signature of the message by this key. Uses node:crypto, which needs 0.5 ms including the
 * check of the point, because the noble library needs 2 ms.
 */
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
 * Returns the message that a user signs to prove that a key is theirs. The message is a readable text, so it cannot
 * equal a Merkle root or an activation message, which the same key may also sign.
 */
export const ownershipMessage = (userId: string): Uint8Array =>
  new TextEncoder().encode(`Emoji Id Directory: this key belongs to the user ${userId}`)

/**
 * Returns the message that authorizes a user to get a random id with a code. It is signed by one of the pubkeys that
 * are listed on the code.
 */
export const activationMessage = (alternateId: string, nonce: string): Uint8Array =>
  blake2b(new TextEncoder().encode(alternateId + nonce), { dkLen: 32 })
