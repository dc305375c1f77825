import { BoundedMap } from "../../actors/bounded-map.ts"
import type { Bus } from "./bus.ts"

export interface InvalidatedCacheOptions {
  /** Where changes of what is remembered are told. */
  readonly topics: ReadonlyArray<string>
  readonly capacity: number
}

/** What was read from the database, by key, for as long as nobody says on the bus that it changed. */
export class InvalidatedCache<A> {
  readonly #bus: Bus["Service"]
  readonly #kept: BoundedMap<A>
  /** Counted, so that what was read before a drop is not remembered after it. */
  #drops = 0

  constructor(bus: Bus["Service"], { capacity, topics }: InvalidatedCacheOptions) {
    this.#bus = bus
    this.#kept = new BoundedMap(capacity)
    for (const topic of topics) bus.onInvalidate(topic, (keys) => this.#drop(keys))
  }

  /** Nothing while the process may not trust its memory. */
  recall(key: string): A | undefined {
    return this.#bus.mayServe() ? this.#kept.get(key) : undefined
  }

  /** Called before something is read; what it returns remembers it, unless anything changed meanwhile. */
  watch(): (key: string, value: A) => void {
    const begun = this.#drops
    return (key, value) => {
      if (begun === this.#drops) this.#kept.set(key, value)
    }
  }

  #drop(keys: ReadonlyArray<string> | "all"): void {
    this.#drops++
    if (keys === "all") this.#kept.clear()
    else for (const key of keys) this.#kept.delete(key)
  }
}
