export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * Returns the delay before attempt n (from 0): a random time up to a limit that doubles with each attempt. The delay
 * is drawn from the whole range, so that clients that lost their connection at the same moment reconnect at different
 * times.
 */
export const delayMs = (
  { firstMs, longestMs }: Backoff,
  n: number,
  random: () => number = Math.random,
): number => random() * Math.min(longestMs, firstMs * 2 ** Math.min(n, 30))
