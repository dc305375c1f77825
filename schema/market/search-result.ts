import { Schema } from "effect"
import { maxEmojiPerId } from "../directory/emoji-id.ts"
import { Generation } from "../directory/emoji-list-item.ts"
import { ShapeMatch } from "../directory/emoji-shape.ts"
import { Metric } from "../directory/metric.ts"
import { Cents } from "../wire-format.ts"

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

/**
 * Id lengths that are not for sale. Ids of `coming_soon_lengths` have the availability ComingSoon, ids of
 * `unpriced_lengths` NoPrice.
 */
export const heldBackLengths = {
  coming_soon_lengths: Lengths,
  unpriced_lengths: Lengths,
}

/** An emoji id with its price and availability. It may be for sale or not. */
export const MarketItem = Schema.Struct({
  emoji_id: Schema.String,
  availability: Availability,
  available: Schema.Boolean,
  flippable_emoji: Schema.Array(Schema.Boolean),
  length: Schema.Int,
  minted: Schema.Boolean,
  rhythm_score: Schema.Int,
  shape: ShapeMatch,
  short_names: Schema.Array(Schema.String),
  stats: Schema.Array(Metric),
  generation: Schema.optionalKey(Generation),
  /** The price in US cents. Missing if the id has no price. */
  price: Schema.optionalKey(Cents),
}).annotate({ identifier: "MarketItem" })
export type MarketItem = typeof MarketItem.Type

export const RandomResult = Schema.Struct({ result: Schema.Array(MarketItem) }).annotate({
  identifier: "RandomResult",
})
export const RecentlyPurchasedResult = Schema.Struct({ result: Schema.Array(MarketItem) }).annotate({
  identifier: "RecentlyPurchasedResult",
})
export const SearchResult = Schema.Struct({
  result: MarketItem,
  alternates: Schema.Array(MarketItem),
}).annotate({ identifier: "SearchResult" })
