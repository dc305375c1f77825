import type { HttpRequest, HttpResponse } from "uWebSockets.js"
import { ownLinesBytes, type Precomputed, type PrecomputedHead } from "../endpoint.ts"
import type { RequestIds } from "../request/ids.ts"

const maxIdBytes = 64
const zero = 48
const nine = 57

/** The head of an answer in memory that is written over by the next one: the library copies what it is given at once. */
class Opening {
  readonly #bytes: Uint8Array
  readonly #beforeId: number
  /** Where the number in the request id begins and ends; it counts up in place. */
  readonly #number: number
  #end: number
  /** By length. */
  readonly #views: Array<Uint8Array | undefined> = []

  constructor(text: string, prefix: string) {
    const bytes = new TextEncoder().encode(`${text}${prefix}0`)
    this.#end = bytes.length
    this.#number = this.#end - 1
    this.#beforeId = this.#number - prefix.length
    this.#bytes = new Uint8Array(this.#beforeId + maxIdBytes + ownLinesBytes)
    this.#bytes.set(bytes)
  }

  /** With the next request id. */
  numbered(answer: Precomputed): Uint8Array {
    const bytes = this.#bytes
    let at = this.#end - 1
    while (at >= this.#number && bytes[at] === nine) bytes[at--] = zero
    if (at >= this.#number) bytes[at]! += 1
    else {
      bytes[this.#number] = zero + 1
      bytes[this.#end++] = zero
    }
    const length = answer.copyOwn(bytes, this.#end)
    this.#views[length] ??= bytes.subarray(0, length)
    return this.#views[length]!
  }

  named(id: string, answer: Precomputed): Uint8Array {
    const bytes = this.#bytes.slice()
    bytes.set(new TextEncoder().encode(id), this.#beforeId)
    return bytes.subarray(0, answer.copyOwn(bytes, this.#beforeId + id.length))
  }
}

/**
 * Writes answers that were prepared. A native call costs more than putting bytes together, so status and headers are one:
 * the status is written raw too. Bytes, because a text would be measured and converted for each answer.
 */
export const makePrecomputedWriter = (
  constantLines: string,
  requestIds: RequestIds,
): ((res: HttpResponse, req: HttpRequest, prepared: Precomputed) => void) => {
  const openings = new Map<PrecomputedHead, Opening>()
  const makeOpening = (head: PrecomputedHead): Opening => {
    const made = new Opening(
      `${head.status}\r\nX-Content-Type-Options: ${constantLines}\r\n${head.lines}\r\nX-Request-Id: `,
      `${requestIds.prefix}${openings.size}.`,
    )
    openings.set(head, made)
    return made
  }

  return (res, req, answer) => {
    const opening = openings.get(answer.head) ?? makeOpening(answer.head)
    const given = requestIds.given(req)
    res.writeStatus(given === undefined ? opening.numbered(answer) : opening.named(given, answer))
  }
}
