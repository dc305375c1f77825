/** @template T @typedef {{readonly value: T, set(next: T): void, watch(listener: (value: T) => void): () => void}} Signal */

/**
 * A value that tells when it changes. A new watcher is told the present one at once.
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

/** What a view has under way while it is shown. */
export class Life {
  #ends = []
  isOver = false

  /** @param {() => unknown} end */
  keep(end) {
    if (this.isOver) end()
    else this.#ends.push(end)
  }

  end() {
    this.isOver = true
    for (const end of this.#ends.splice(0)) end()
  }
}

/**
 * Runs a load again when asked, never two at once: what is asked for meanwhile is one more run at the end.
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
