/** A rate limit: a burst, then a constant rate per second. */
export class TokenBucket {
  readonly #burst: number
  readonly #perSecond: number
  #left: number
  #at: number

  constructor(burst: number, perSecond: number, nowMs: number) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#left = burst
    this.#at = nowMs
  }

  /** Uses one token. Returns false if the limit is exceeded. */
  take(nowMs: number): boolean {
    const earned = (Math.max(0, nowMs - this.#at) / 1000) * this.#perSecond
    this.#left = Math.min(this.#burst, this.#left + earned) - 1
    this.#at = nowMs
    return this.#left >= 0
  }
}
