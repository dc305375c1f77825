/** The price of ids that have one given rhythm score. */
interface PricePoint {
  readonly score: number
  readonly price_in_cents: number
}

/**
 * Returns the price of ids with this score. `points` has at least one point. Between two points the price grows
 * exponentially, or linearly if the first of them has the price 0.
 */
export const priceInCents = (score: number, points: ReadonlyArray<PricePoint>): number => {
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
