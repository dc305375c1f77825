import { ownLinesBytes, type Precomputed, type PrecomputedHead } from "../endpoint.ts"

/** A prepared answer that stays what it is. */
export class StaticResponse implements Precomputed {
  readonly head: PrecomputedHead
  readonly body: Uint8Array
  readonly #own: Uint8Array

  constructor(head: PrecomputedHead, own: string, body: string) {
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
