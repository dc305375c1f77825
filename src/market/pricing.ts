import { Schema } from "effect"
import { priceInCents } from "../../schema/market/price-curve.ts"

/** The maximum is that of a signed 32-bit integer, because API clients read prices as such integers. */
export const maxPriceCents = 2_147_483_647

/** Both bounds are inclusive. An undefined bound is no bound. */
export interface Range {
  readonly least: number | undefined
  readonly most: number | undefined
}

/** The price of ids that have one given rhythm score. */
const PricePoint = Schema.Struct({
  score: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
  price_in_cents: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxPriceCents })),
})

type PricePoints = ReadonlyArray<typeof PricePoint.Type>

const rises = (points: PricePoints): boolean =>
  points.every((point, place) => {
    const before = points[place - 1]
    return (
      before === undefined || (before.score < point.score && before.price_in_cents <= point.price_in_cents)
    )
  })

/**
 * Price points, ordered by score. Between two points the price grows exponentially, or linearly if the first of them
 * has the price 0. Below the first point and above the last one the price is constant.
 */
export const PriceParameters = Schema.Array(PricePoint)
  .check(
    Schema.isMinLength(1),
    Schema.isMaxLength(100),
    Schema.makeFilter(rises, {
      message: "expected increasing scores and prices that do not decrease",
      code: "not_monotone",
    }),
  )
  .annotate({ identifier: "PriceParameters" })
export type PriceParameters = typeof PriceParameters.Type

export const defaultPriceParameters: PriceParameters = [
  { score: 1, price_in_cents: 400 },
  { score: 40, price_in_cents: 600 },
  { score: 60, price_in_cents: 2_000 },
  { score: 75, price_in_cents: 8_000 },
  { score: 85, price_in_cents: 25_000 },
  { score: 92, price_in_cents: 80_000 },
  { score: 99, price_in_cents: 340_000 },
  { score: 100, price_in_cents: 500_000 },
]

/** Returns the lowest and the highest score whose price is within the range. Undefined if no score has such a price. */
export const scoresPriced = (
  { least = 0, most = maxPriceCents }: Range,
  points: PriceParameters,
): { readonly minScore: number; readonly maxScore: number } | undefined => {
  const scores = Array.from({ length: 100 }, (_, i) => i + 1).filter((score) => {
    const cents = priceInCents(score, points)
    return cents >= least && cents <= most
  })
  const [minScore, maxScore] = [scores[0], scores.at(-1)]
  return minScore === undefined || maxScore === undefined ? undefined : { minScore, maxScore }
}
