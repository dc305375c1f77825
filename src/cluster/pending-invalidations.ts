export type Invalidation = readonly [topic: string, text: string]

interface RateLimits {
  readonly pairs: number
  readonly pairBytes: number
}

/**
 * A queue of distinct pairs to send, oldest first. If there are too many pairs, or if a pair is too long, all pairs
 * are dropped, and the next `take` reports that.
 */
export class PendingInvalidations {
  readonly #waiting = new Map<string, { readonly pair: Invalidation; readonly bytes: number }>()
  readonly #limits: RateLimits
  #forgot = false
  #taken = 0

  constructor(limits: RateLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0 && !this.#forgot
  }

  /** The number of pairs that were taken or dropped so far. */
  get taken(): number {
    return this.#taken
  }

  /** The value of `taken` after all pairs that are queued now have been taken. */
  get end(): number {
    return this.#taken + this.#waiting.size + (this.#forgot ? 1 : 0)
  }

  add(pair: Invalidation): void {
    if (this.#forgot) return
    const json = JSON.stringify(pair)
    const bytes = Buffer.byteLength(json) + 1
    this.#waiting.set(json, { pair, bytes })
    if (bytes <= this.#limits.pairBytes && this.#waiting.size <= this.#limits.pairs) return
    this.forget()
  }

  /** Drops all pairs. The next `take` reports that pairs were lost. */
  forget(): void {
    // All dropped pairs except one are counted here. The next `take`, which reports the loss, counts the last one.
    this.#taken += Math.max(0, this.#waiting.size - 1)
    this.#waiting.clear()
    this.#forgot = true
  }

  take(budgetBytes: number): { readonly pairs: ReadonlyArray<Invalidation>; readonly forgot: boolean } {
    if (this.#forgot) {
      this.#forgot = false
      this.#taken += 1
      return { pairs: [], forgot: true }
    }
    const pairs: Array<Invalidation> = []
    let leftBytes = budgetBytes
    for (const [json, { pair, bytes }] of this.#waiting) {
      leftBytes -= bytes
      if (leftBytes < 0) break
      pairs.push(pair)
      this.#waiting.delete(json)
    }
    this.#taken += pairs.length
    return { pairs, forgot: false }
  }
}
