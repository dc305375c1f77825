/** The values that listeners report, for a loop that reads them one after the other. */
export class UpdateQueue<A> implements AsyncIterableIterator<A> {
  #values: Array<A> = []
  #end: { readonly error: unknown } | "closed" | undefined
  #wake: (() => void) | undefined
  readonly #release: () => void

  /** `release` is called once, when the loop ends or no more values follow. */
  constructor(release: () => void) {
    this.#release = release
  }

  get length(): number {
    return this.#values.length
  }

  push(value: A): void {
    if (this.#end !== undefined) return
    this.#values.push(value)
    this.#wake?.()
  }

  /** Replaces all values that were not read. */
  replace(value: A): void {
    this.#values = []
    this.push(value)
  }

  clear(): void {
    this.#values = []
  }

  /** Ends the loop after the values that were not read. */
  close(): void {
    this.#finish("closed")
  }

  fail(error: unknown): void {
    this.#finish({ error })
  }

  #finish(end: { readonly error: unknown } | "closed"): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#wake?.()
    this.#release()
  }

  async next(): Promise<IteratorResult<A, undefined>> {
    while (this.#values.length === 0 && this.#end === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    if (this.#values.length > 0) return { done: false, value: this.#values.shift()! }
    const end = this.#end
    // The error is thrown once. Later reads find the end.
    this.#end = "closed"
    if (end !== "closed" && end !== undefined) throw end.error
    return { done: true, value: undefined }
  }

  /** The loop was left with `break`, `return` or an error. */
  async return(): Promise<IteratorResult<A, undefined>> {
    this.#values = []
    this.close()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
