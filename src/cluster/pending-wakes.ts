/** A topic, and a key or a payload. */
export type Pair = readonly [topic: string, text: string]

interface Limits {
  readonly pairs: number
  readonly pairBytes: number
}

/**
 * A queue of distinct wake-ups to send, oldest first. If there are too many, or if one is too long, all are dropped, and
 * the next `take` reports that.
 */
export class PendingWakes {
  readonly #waiting = new Map<string, { readonly pair: Pair; readonly bytes: number }>()
  readonly #limits: Limits
  #forgot = false

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0 && !this.#forgot
  }

  add(pair: Pair): void {
    if (this.#forgot) return
    const json = JSON.stringify(pair)
    const bytes = Buffer.byteLength(json) + 1
    this.#waiting.set(json, { pair, bytes })
    if (bytes <= this.#limits.pairBytes && this.#waiting.size <= this.#limits.pairs) return
    this.forget()
  }

  /** Drops all wake-ups. The next `take` reports that some were lost. */
  forget(): void {
    this.#waiting.clear()
    this.#forgot = true
  }

  take(budgetBytes: number): { readonly pairs: ReadonlyArray<Pair>; readonly forgot: boolean } {
    if (this.#forgot) {
      this.#forgot = false
      return { pairs: [], forgot: true }
    }
    const pairs: Array<Pair> = []
    let leftBytes = budgetBytes
    for (const [json, { pair, bytes }] of this.#waiting) {
      leftBytes -= bytes
      if (leftBytes < 0) break
      pairs.push(pair)
      this.#waiting.delete(json)
    }
    return { pairs, forgot: false }
  }
}
