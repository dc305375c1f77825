import { Schema } from "effect"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { heldBackLengths } from "../../schema/market/search-result.ts"
import { defaultPriceParameters, PriceParameters } from "./pricing.ts"

export const MarketParameters = Schema.Struct({ points: PriceParameters, ...heldBackLengths }).annotate({
  identifier: "MarketParameters",
})
export type MarketParameters = typeof MarketParameters.Type

export const defaultMarketParameters: MarketParameters = {
  points: defaultPriceParameters,
  coming_soon_lengths: [],
  unpriced_lengths: [],
}

/** Returns the id lengths that are not for sale. */
export const heldBackBy = ({
  coming_soon_lengths,
  unpriced_lengths,
}: MarketParameters): ReadonlyArray<number> => [...coming_soon_lengths, ...unpriced_lengths]

export const lengthOf = (canonical: string): number => {
  const id = parseEmojiId(canonical)
  return id._tag === "EmojiId" ? id.length : 0
}

/** Whether ids that are as long as this id are for sale. The function does not check whether this id is claimed. */
export const isOnSale = (canonical: string, parameters: MarketParameters): boolean =>
  !heldBackBy(parameters).includes(lengthOf(canonical))
