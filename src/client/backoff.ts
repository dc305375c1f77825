export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * How long to wait before try n (from 0): anything up to a bound that doubles. The whole range is drawn from, so that
 * thousands who were cut off at the same moment do not come back at the same moment.
 */
export const delayMs = (
  { firstMs, longestMs }: Backoff,
  n: number,
  random: () => number = Math.random,
): number => random() * Math.min(longestMs, firstMs * 2 ** Math.min(n, 30))
