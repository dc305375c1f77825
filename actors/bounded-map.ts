/** The share of entries that are removed together. */
const removedShare = 1 / 64

/**
 * A map with a maximum size. When it is full, it removes its oldest entries. Entries that `mayRemove` keeps count as
 * new again.
 *
 * To find the oldest entry, an iterator walks over all deleted slots before it, which can be as many as the map has
 * entries. So each walk removes many entries. Keeping one iterator open is no alternative: it would keep all removed
 * entries in memory.
 */
export class BoundedMap<Value> extends Map<string, Value> {
  readonly #max: number
  readonly #mayRemove: (value: Value) => boolean

  constructor(max: number, mayRemove: (value: Value) => boolean = () => true) {
    super()
    this.#max = max
    this.#mayRemove = mayRemove
  }

  override set(key: string, value: Value): this {
    if (this.size >= this.#max && !this.has(key)) this.#makeRoom()
    return super.set(key, value)
  }

  /** Makes the entry the newest one. */
  renew(key: string, value: Value): void {
    this.delete(key)
    this.set(key, value)
  }

  #makeRoom(): void {
    let toRemove = Math.ceil(this.#max * removedShare)
    let toVisit = this.size
    for (const [key, value] of this) {
      this.delete(key)
      if (this.#mayRemove(value)) toRemove--
      else super.set(key, value)
      if (toRemove === 0 || --toVisit === 0) return
    }
  }
}
