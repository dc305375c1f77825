import type { HttpRequest, HttpResponse } from "uWebSockets.js"
import { ownLinesBytes, type Prepared, type PreparedHead } from "./exchange.ts"
import type { RequestIds } from "./request-ids.ts"

const maxIdBytes = 64
const zero = 48

/** The head of an answer in memory that is written over by the next one: the library copies what it is given at once. */
class Opening {
  readonly #bytes: Uint8Array
  readonly #beforeId: number
  readonly #prefix: string
  /** By length. */
  readonly #views: Array<Uint8Array | undefined> = []

  constructor(text: string, prefix: string) {
    const bytes = new TextEncoder().encode(text + prefix)
    this.#prefix = prefix
    this.#beforeId = bytes.length - prefix.length
    this.#bytes = new Uint8Array(this.#beforeId + maxIdBytes + ownLinesBytes)
    this.#bytes.set(bytes)
  }

  /** With the request id of that number. */
  numbered(id: number, answer: Prepared): Uint8Array {
    const bytes = this.#bytes
    const begin = this.#beforeId + this.#prefix.length
    let end = begin + 1
    for (let rest = id; rest >= 10; rest = Math.floor(rest / 10)) end++
    for (let at = end, rest = id; at > begin; rest = Math.floor(rest / 10)) bytes[--at] = zero + (rest % 10)
    const length = answer.copyOwn(bytes, end)
    this.#views[length] ??= bytes.subarray(0, length)
    return this.#views[length]!
  }

  named(id: string, answer: Prepared): Uint8Array {
    const bytes = this.#bytes.slice()
    bytes.set(new TextEncoder().encode(id), this.#beforeId)
    return bytes.subarray(0, answer.copyOwn(bytes, this.#beforeId + id.length))
  }
}

/**
 * Writes answers that were prepared. A native call costs more than putting bytes together, so status and headers are one:
 * the status is written raw too. Bytes, because a text would be measured and converted for each answer.
 */
export const makePreparedWriter = (
  constantLines: string,
  requestIds: RequestIds,
): ((res: HttpResponse, req: HttpRequest, prepared: Prepared) => void) => {
  const openings = new Map<PreparedHead, Opening>()
  const makeOpening = (head: PreparedHead): Opening => {
    const made = new Opening(
      `${head.status}\r\nX-Content-Type-Options: ${constantLines}\r\n${head.lines}\r\nX-Request-Id: `,
      requestIds.prefix,
    )
    openings.set(head, made)
    return made
  }

  return (res, req, answer) => {
    const opening = openings.get(answer.head) ?? makeOpening(answer.head)
    const given = requestIds.given(req)
    res.writeStatus(
      given === undefined ? opening.numbered(requestIds.next(), answer) : opening.named(given, answer),
    )
  }
}
