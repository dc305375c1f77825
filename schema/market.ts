import { Schema } from "effect"
import { maxEmojiPerId } from "./emoji-id.ts"

export const Availability = Schema.Literals([
  "Available",
  "Taken",
  "InCart",
  "ComingSoon",
  "NoPrice",
]).annotate({
  identifier: "Availability",
})
export type Availability = typeof Availability.Type

const Lengths = Schema.Array(
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxEmojiPerId })),
).check(Schema.isMaxLength(maxEmojiPerId))

/** Lengths that are held back: announced ones are ComingSoon, the others have no price. */
export const heldBackLengths = {
  coming_soon_lengths: Lengths,
  unpriced_lengths: Lengths,
}
