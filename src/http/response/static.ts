import { ownLinesBytes, type Prepared, type PreparedHead } from "../transport.ts"

/** A prepared answer that stays what it is. */
export class FixedAnswer implements Prepared {
  readonly head: PreparedHead
  readonly body: Uint8Array
  readonly #own: Uint8Array

  constructor(head: PreparedHead, own: string, body: string) {
    if (own.length > ownLinesBytes) throw new Error("an answer's own header lines are too long")
    this.head = head
    this.body = new TextEncoder().encode(body)
    this.#own = new TextEncoder().encode(own)
  }

  copyOwn(into: Uint8Array, at: number): number {
    into.set(this.#own, at)
    return at + this.#own.length
  }
}
