/**
 * Keeps this process awake while it waits for responses: it polls instead of sleeping. If it slept, the server would
 * have to wake it for each response. That would cost the server several microseconds, which clients on other machines
 * do not cause. The waiting time is measured, so that it is not counted as work.
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

  /** Sets the measured waiting time to zero. */
  restart(): void {
    this.#idleMs = 0
  }

  /** Stops polling. Returns the waiting time in milliseconds since the last restart. */
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
