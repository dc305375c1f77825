/** A value with change listeners. `watch` calls the listener with the current value immediately. */
export interface Signal<T> {
  readonly value: T
  set(next: T): void
  watch(listener: (value: T) => void): () => void
}

export const signal = <T>(first: T): Signal<T> => {
  let value = first
  const listeners = new Set<(value: T) => void>()
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
      return () => void listeners.delete(listener)
    },
  }
}

/** The lifetime of a view. Functions passed to `onEnd` run when the view is closed. */
export class Lifetime {
  readonly #ends: Array<() => void> = []
  hasEnded = false

  onEnd(end: () => void): void {
    if (this.hasEnded) end()
    else this.#ends.push(end)
  }

  end(): void {
    this.hasEnded = true
    for (const end of this.#ends.splice(0)) end()
  }
}

/**
 * Returns a function that runs `load`. Only one run is active at a time. Calls during a run cause one more run after
 * it.
 */
export const coalesced = (load: () => Promise<unknown>): (() => Promise<void>) => {
  let running = false
  let again = false
  return async () => {
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
}
