/** A full map removes this share of its maximum size at one time. */
const removedShare = 1 / 64

/**
 * A map with a maximum size. When it is full, it removes its oldest entries. An entry that `mayRemove` excludes is
 * not removed and becomes the newest entry.
 *
 * A search for the oldest entry is slow: a new iterator first visits the slots of entries that were deleted earlier,
 * and there can be as many of them as entries in the map. So each search removes many entries. One iterator that stays
 * open between searches would be faster, but it would keep all removed entries in memory.
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

  /** Sets the entry and makes it the newest one. */
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
