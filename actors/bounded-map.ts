/**
 * A map that forgets its oldest entry when it has no more room. What `mayGo` spares counts as new again.
 *
 * It goes on with one iterator over its keys. An iterator begun anew first walks over all that was deleted before the
 * oldest, which is up to as much as the map has room for.
 */
export class BoundedMap<Value> extends Map<string, Value> {
  readonly #max: number
  readonly #mayGo: (value: Value) => boolean
  #oldestKeys = this.keys()

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
    for (let looks = this.size; looks > 0; looks--) {
      const key = this.#oldest()
      const value = this.get(key) as Value
      this.delete(key)
      if (this.#mayGo(value)) return
      super.set(key, value)
    }
  }

  #oldest(): string {
    let next = this.#oldestKeys.next()
    if (next.done) {
      this.#oldestKeys = this.keys()
      next = this.#oldestKeys.next()
    }
    return next.value as string
  }
}
