/** Handlers by topic. If one throws, the others are still called. */
export class Topics<A> {
  readonly #handlers = new Map<string, Set<(value: A) => void>>()
  readonly #onFailure: (cause: unknown) => void

  constructor(onFailure: (cause: unknown) => void) {
    this.#onFailure = onFailure
  }

  on(topic: string, handler: (value: A) => void): () => void {
    const handlers = this.#handlers.get(topic) ?? new Set()
    this.#handlers.set(topic, handlers.add(handler))
    return () => {
      handlers.delete(handler)
      if (handlers.size === 0 && this.#handlers.get(topic) === handlers) this.#handlers.delete(topic)
    }
  }

  notify(topic: string, value: A): void {
    for (const handler of this.#handlers.get(topic) ?? []) {
      try {
        handler(value)
      } catch (cause) {
        this.#onFailure(cause)
      }
    }
  }

  notifyAll(value: A): void {
    for (const topic of this.#handlers.keys()) this.notify(topic, value)
  }
}
