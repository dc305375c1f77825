import { Schema } from "effect"

/** The price of ids that have one given rhythm score. */
const PricePoint = Schema.Struct({
  score: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
  // The maximum is that of a signed 32-bit integer, because API clients read prices as such integers.
  price_in_cents: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 })),
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

export const priceInCents = (score: number, points: PriceParameters): number => {
  const above = points.findIndex((point) => point.score >= score)
  if (above === -1) return points.at(-1)!.price_in_cents
  const upper = points[above]!
  const lower = points[above - 1]
  if (lower === undefined || upper.score === score) return upper.price_in_cents
  const share = (score - lower.score) / (upper.score - lower.score)
  // A price of 0 cannot grow exponentially, so the price grows linearly from a point with price 0 to the next point.
  if (lower.price_in_cents === 0) return Math.round(upper.price_in_cents * share)
  return Math.round(lower.price_in_cents * (upper.price_in_cents / lower.price_in_cents) ** share)
}
