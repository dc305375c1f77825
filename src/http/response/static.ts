import { ownLinesBytes, type Precomputed, type PrecomputedHead } from "../endpoint.ts"

/** A precomputed response that never changes. */
export class StaticResponse implements Precomputed {
  readonly head: PrecomputedHead
  readonly body: Uint8Array
  readonly #own: Uint8Array

  constructor(head: PrecomputedHead, own: string, body: string) {
    if (own.length > ownLinesBytes)
      throw new Error(`the own header lines of a response exceed ${ownLinesBytes} bytes`)
    this.head = head
    this.body = new TextEncoder().encode(body)
    this.#own = new TextEncoder().encode(own)
  }

  copyOwn(into: Uint8Array, at: number): number {
    into.set(this.#own, at)
    return at + this.#own.length
  }
}
