import { Option, Schema } from "effect"
import { Json, optional, text } from "./wire.ts"

/** What lets a user draw an id with a code: a listed key's signature over their alternate_id followed by the nonce. */
export const RandomYatActivateBody = Schema.Struct({
  nonce: text(256),
  pubkey: text(128),
  signature: text(256),
  tracking_data: optional(Json),
}).annotate({ identifier: "RandomYatActivateBody" })
export type RandomYatActivateBody = typeof RandomYatActivateBody.Type

const bound = (maximum: number) => optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum })))

/** The `pattern` of a code that gives ids: which ids it gives. Without one, ids of five or six emoji. */
export const RandomIdPattern = Schema.Struct({
  min_length: bound(6),
  max_length: bound(6),
  min_score: bound(100),
  max_score: bound(100),
})

const decode = Schema.decodeUnknownOption(RandomIdPattern, { onExcessProperty: "error" })

/** Whether a pattern says what it means: nothing in it is misspelled, and no bound rules out the other. */
export const isRandomIdPattern = (pattern: unknown): boolean =>
  Option.exists(
    decode(pattern),
    ({ max_length, max_score, min_length, min_score }) =>
      (min_length ?? 1) <= (max_length ?? 6) && (min_score ?? 1) <= (max_score ?? 100),
  )
