/** So much of it goes at once. */
const shareToGo = 1 / 64

/**
 * A map that forgets its oldest entries when it has no more room. What `mayGo` spares counts as new again.
 *
 * To find the oldest an iterator walks over everything deleted before it, which may be as much as the map has room for, so
 * each walk is for many. One kept from time to time instead would keep with it all the map has held meanwhile.
 */
export class BoundedMap<Value> extends Map<string, Value> {
  readonly #max: number
  readonly #mayGo: (value: Value) => boolean

  constructor(max: number, mayGo: (value: Value) => boolean = () => true) {
    super()
    this.#max = max
    this.#mayGo = mayGo
  }

  override set(key: string, value: Value): this {
    if (this.size >= this.#max && !this.has(key)) this.#makeRoom()
    return super.set(key, value)
  }

  /** As if it had been set just now. */
  renew(key: string, value: Value): void {
    this.delete(key)
    this.set(key, value)
  }

  #makeRoom(): void {
    let toGo = Math.ceil(this.#max * shareToGo)
    let toSee = this.size
    for (const [key, value] of this) {
      this.delete(key)
      if (this.#mayGo(value)) toGo--
      else super.set(key, value)
      if (toGo === 0 || --toSee === 0) return
    }
  }
}
