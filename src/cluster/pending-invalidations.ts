export type Invalidation = readonly [topic: string, text: string]

interface RateLimits {
  readonly pairs: number
  readonly pairBytes: number
}

/** Pairs waiting to be sent, each once, oldest first. Past a limit all are forgotten and the next taker is told so. */
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

  /** How many have been taken or forgotten so far. */
  get taken(): number {
    return this.#taken
  }

  /** What `taken` will have reached once everything waiting now is gone. */
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

  /** The next taker is told that pairs were lost. */
  forget(): void {
    // One of those waiting stays uncounted: it stands for the notice that is still to be taken.
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
