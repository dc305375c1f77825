import { BoundedMap } from "../../actors/bounded-map.ts"
import type { Bus } from "./bus.ts"

export interface InvalidatedCacheOptions {
  /** The topics that invalidate entries. */
  readonly topics: ReadonlyArray<string>
  readonly capacity: number
}

/** Caches values read from the database until the bus invalidates their keys. */
export class InvalidatedCache<A> {
  readonly #bus: Bus["Service"]
  readonly #entries: BoundedMap<A>
  readonly #topics: ReadonlyArray<string>
  /** Counts invalidations, so that a value read before one is not stored after it. */
  #drops = 0

  constructor(bus: Bus["Service"], { capacity, topics }: InvalidatedCacheOptions) {
    this.#bus = bus
    this.#topics = topics
    this.#entries = new BoundedMap(capacity)
    for (const topic of topics) bus.onInvalidate(topic, (keys) => this.#drop(keys))
  }

  /** Returns the cached value. Returns undefined if there is none, or while this process must not use its caches. */
  recall(key: string): A | undefined {
    return this.#bus.mayServe() ? this.#entries.get(key) : undefined
  }

  /**
   * Call it before a read. The returned function stores the value, unless an invalidation arrived during the read, or a
   * write of the key is running.
   */
  watch(): (key: string, value: A) => void {
    const begun = this.#drops
    return (key, value) => {
      const isMarked = this.#topics.some((topic) => this.#bus.isMarked(topic, key))
      if (begun === this.#drops && !isMarked) this.#entries.set(key, value)
    }
  }

  #drop(keys: ReadonlyArray<string> | "all"): void {
    this.#drops++
    if (keys === "all") this.#entries.clear()
    else for (const key of keys) this.#entries.delete(key)
  }
}
