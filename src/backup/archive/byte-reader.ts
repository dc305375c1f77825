/** Reads a stream of chunks in parts of a chosen length. Fails if the stream ends early. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done === true) return false
    this.#rest = value
    return true
  }

  /** Returns the next bytes: at least one, and at most `limit`. */
  async some(limit: number): Promise<Buffer> {
    while (this.#rest.length === 0) if (!(await this.#fill())) throw new Error("the file ends early")
    const part = this.#rest.subarray(0, limit)
    this.#rest = this.#rest.subarray(part.length)
    return part
  }

  async take(length: number): Promise<Buffer> {
    const parts: Array<Buffer> = []
    for (let left = length; left > 0; ) {
      const part = await this.some(left)
      parts.push(part)
      left -= part.length
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }

  /** Reads to the end of the stream. */
  async drain(): Promise<void> {
    while (await this.#fill()) this.#rest = Buffer.alloc(0)
  }
}
