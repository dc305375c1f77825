/**
 * Keeps this process from falling asleep while it waits for answers. To wake a sleeping process on the same machine costs
 * the server that answers it several microseconds an answer, more often the slower it is: a cost that no client elsewhere
 * causes. What the waiting takes is told apart from the work.
 */
export class Vigil {
  readonly #progress: () => number
  #isOver = false
  #spareMs = 0
  #seen = 0
  #seenAtMs = 0

  /** `progress` rises with everything that is done. */
  constructor(progress: () => number) {
    this.#progress = progress
    this.#look()
  }

  /** Forgets what was spared so far. */
  restart(): void {
    this.#spareMs = 0
  }

  /** How long nothing was to be done since the restart. */
  end(): number {
    this.#isOver = true
    return this.#spareMs
  }

  readonly #look = (): void => {
    if (this.#isOver) return
    const nowMs = performance.now()
    const progress = this.#progress()
    if (progress === this.#seen && this.#seenAtMs > 0) this.#spareMs += nowMs - this.#seenAtMs
    this.#seen = progress
    this.#seenAtMs = nowMs
    setImmediate(this.#look)
  }
}
