import { Option, Schema } from "effect"
import { optional, text, words } from "../wire-format.ts"
import { TrackingData } from "./order.ts"

/**
 * How a key of a code signs activations. Existing clients sign with Ristretto255 Schnorr, so it is the default. Its
 * signatures can be made without the private key; see SECURITY.md. The kind is stored with the key, because half of all
 * Ristretto255 keys are also valid Ed25519 keys.
 */
export const CodeKeyKind = words("CodeKeyKind", ["ristretto255", "ed25519"])
export type CodeKeyKind = typeof CodeKeyKind.Type

/**
 * The body of an activation. One of the code's keys signs the user's alternate_id. For Ristretto255, `nonce` is the
 * point R and `signature` the scalar s, both as 64 hex digits. For Ed25519, the nonce is part of the signed message.
 */
export const RandomYatActivateBody = Schema.Struct({
  nonce: text(256),
  pubkey: text(128),
  signature: text(256),
  tracking_data: optional(TrackingData),
}).annotate({ identifier: "RandomYatActivateBody" })
export type RandomYatActivateBody = typeof RandomYatActivateBody.Type

const bound = (maximum: number) => optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum })))

/**
 * The `pattern` of a code: limits for the ids that it applies to. Without limits, a random id has five or six emoji,
 * and a discount applies to all ids.
 */
const IdPattern = Schema.Struct({
  min_length: bound(6),
  max_length: bound(6),
  min_score: bound(100),
  max_score: bound(100),
})

type IdPattern = typeof IdPattern.Type

const decodeExactly = Schema.decodeUnknownOption(IdPattern, { onExcessProperty: "error" })
const decode = Schema.decodeUnknownOption(IdPattern)

export const readIdPattern = (pattern: unknown): IdPattern => Option.getOrElse(decode(pattern), () => ({}))

/** The limits of length and score from which the random id of a code is drawn. */
export const drawBounds = (pattern: unknown) => {
  const { max_length, max_score, min_length, min_score } = readIdPattern(pattern)
  return {
    minLength: min_length ?? Math.min(5, max_length ?? 5),
    maxLength: max_length ?? 6,
    minScore: min_score ?? undefined,
    maxScore: max_score ?? undefined,
  }
}

/** Whether a pattern is valid: it has only known members, and each minimum is at most its maximum. */
export const isIdPattern = (pattern: unknown): boolean =>
  Option.exists(
    decodeExactly(pattern),
    ({ max_length, max_score, min_length, min_score }) =>
      (min_length ?? 1) <= (max_length ?? 6) && (min_score ?? 1) <= (max_score ?? 100),
  )
