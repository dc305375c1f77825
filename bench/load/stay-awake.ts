/**
 * Keeps this process awake while it waits for responses. Waking a sleeping process on the same machine costs the server
 * several microseconds per response, a cost that remote clients do not cause. The time spent waiting is measured
 * separately from the work.
 */
export class StayAwake {
  readonly #progress: () => number
  #hasEnded = false
  #idleMs = 0
  #seen = 0
  #seenAtMs = 0

  /** `progress` returns a number that increases with every unit of work. */
  constructor(progress: () => number) {
    this.#progress = progress
    this.#poll()
  }

  /** Resets the measured waiting time. */
  restart(): void {
    this.#idleMs = 0
  }

  /** Stops, and returns the waiting time in milliseconds since the last restart. */
  end(): number {
    this.#hasEnded = true
    return this.#idleMs
  }

  readonly #poll = (): void => {
    if (this.#hasEnded) return
    const nowMs = performance.now()
    const progress = this.#progress()
    if (progress === this.#seen && this.#seenAtMs > 0) this.#idleMs += nowMs - this.#seenAtMs
    this.#seen = progress
    this.#seenAtMs = nowMs
    setImmediate(this.#poll)
  }
}
