/** @template T @typedef {{readonly value: T, set(next: T): void, watch(listener: (value: T) => void): () => void}} Signal */

/**
 * A value with change listeners. `watch` calls the listener with the current value immediately.
 * @template T @param {T} first @returns {Signal<T>}
 */
export const signal = (first) => {
  let value = first
  const listeners = new Set()
  return {
    get value() {
      return value
    },
    set: (next) => {
      value = next
      for (const listener of [...listeners]) listener(next)
    },
    watch: (listener) => {
      listeners.add(listener)
      listener(value)
      return () => listeners.delete(listener)
    },
  }
}

/** The lifetime of a view. Functions passed to `onEnd` run when the view is closed. */
export class Lifetime {
  #ends = []
  hasEnded = false

  /** @param {() => unknown} end */
  onEnd(end) {
    if (this.hasEnded) end()
    else this.#ends.push(end)
  }

  end() {
    this.hasEnded = true
    for (const end of this.#ends.splice(0)) end()
  }
}

/**
 * Returns a function that runs `load`. Only one run is active at a time. Calls during a run cause one more run after
 * it.
 * @param {() => Promise<unknown>} load
 */
export const coalesced = (load) => {
  let running = false
  let again = false
  const run = async () => {
    if (running) {
      again = true
      return
    }
    running = true
    try {
      do {
        again = false
        await load()
      } while (again)
    } finally {
      running = false
    }
  }
  return run
}
