/** The minimum number of pairs. Fewer pairs cannot show how much the ratio varies by chance. */
export const leastPairs = 3

/** A ratio that differs from 1 by less than this is not reported as a difference. */
const leastEffect = 0.02

export type Verdict = "slower beyond noise" | "no difference beyond noise" | "faster beyond noise"

export interface Judged {
  /** The geometric mean of the pairs' ratios. */
  readonly ratio: number
  /** The true ratio is between `low` and `high` with 99.8 % confidence. */
  readonly low: number
  readonly high: number
  /** The lowest and the highest ratio of a single pair are `min` and `max`. */
  readonly min: number
  readonly max: number
  readonly verdict: Verdict
}

/**
 * The 0.999 quantiles of Student's t distribution for 1, 2, 3 and more degrees of freedom. They give 99.8 %
 * intervals. One comparison judges about twenty figures, so with 95 % intervals almost every second comparison would
 * report a false loss. Above 20 degrees of freedom the last value is used, which makes the interval slightly too
 * wide.
 */
const quantiles = [
  318.31, 22.327, 10.215, 7.173, 5.893, 5.208, 4.785, 4.501, 4.297, 4.144, 4.025, 3.93, 3.852, 3.787, 3.733,
  3.686, 3.646, 3.61, 3.579, 3.552,
]

/**
 * Judges the ratios of all pairs. Returns undefined if fewer than `leastPairs` of them are usable, that is finite and
 * above 0.
 */
export function judge(ratios: readonly number[], better: "higher" | "lower"): Judged | undefined {
  const usable = ratios.filter((ratio) => Number.isFinite(ratio) && ratio > 0)
  const count = usable.length
  if (count < leastPairs) return undefined
  const logs = usable.map(Math.log)
  const mean = logs.reduce((sum, log) => sum + log, 0) / count
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (count - 1)
  const quantile = quantiles[Math.min(count - 1, quantiles.length) - 1]!
  const margin = quantile * Math.sqrt(variance / count)
  const interval = { ratio: Math.exp(mean), low: Math.exp(mean - margin), high: Math.exp(mean + margin) }
  return {
    ...interval,
    min: Math.min(...usable),
    max: Math.max(...usable),
    verdict: verdictOf(interval, better),
  }
}

function verdictOf(
  { ratio, low, high }: Pick<Judged, "ratio" | "low" | "high">,
  better: "higher" | "lower",
): Verdict {
  const isAbove = low > 1 && ratio >= 1 + leastEffect
  const isBelow = high < 1 && ratio <= 1 - leastEffect
  if (!isAbove && !isBelow) return "no difference beyond noise"
  return isAbove === (better === "higher") ? "faster beyond noise" : "slower beyond noise"
}
