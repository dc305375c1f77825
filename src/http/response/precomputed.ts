import type { HttpRequest, HttpResponse } from "uWebSockets.js"
import { ownLinesBytes, type Precomputed, type PrecomputedHead } from "../endpoint.ts"
import type { RequestIds } from "../request/ids.ts"
import type { CrossOrigin } from "./cross-origin.ts"

const maxIdBytes = 64
const zero = 48
const nine = 57

/**
 * Holds status and headers in memory that the next response overwrites. That is safe, because the library copies the
 * bytes during the call.
 */
class HeadBuffer {
  readonly #bytes: Uint8Array
  readonly #beforeId: number
  /**
   * The position at which the number of the request id starts. The number is incremented in place and ends before
   * `#end`.
   */
  readonly #number: number
  #end: number
  /** Views of the first bytes of the buffer, by their length. They are kept to avoid a new view for each response. */
  readonly #views: Array<Uint8Array | undefined> = []

  constructor(text: string, prefix: string) {
    const bytes = new TextEncoder().encode(`${text}${prefix}0`)
    this.#end = bytes.length
    this.#number = this.#end - 1
    this.#beforeId = this.#number - prefix.length
    this.#bytes = new Uint8Array(this.#beforeId + maxIdBytes + ownLinesBytes)
    this.#bytes.set(bytes)
  }

  /** Returns status and headers with the next request id of this server. */
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

  /** Returns status and headers with a request id that the client sent. */
  named(id: string, answer: Precomputed): Uint8Array {
    const bytes = this.#bytes.slice()
    bytes.set(new TextEncoder().encode(id), this.#beforeId)
    return bytes.subarray(0, answer.copyOwn(bytes, this.#beforeId + id.length))
  }
}

export type PrecomputedWriter = (res: HttpResponse, req: HttpRequest, prepared: Precomputed) => void

/**
 * Makes a function that writes status and headers of precomputed responses. A native call costs more than joining
 * bytes, so both are written with one call of `writeStatus`, which does not check its argument. The argument is
 * bytes, because the library would measure and convert a string each time.
 */
const makeWriter = (
  constantLines: string,
  errorLines: string,
  requestIds: RequestIds,
  nextBuffer: () => number,
): PrecomputedWriter => {
  const buffers = new Map<PrecomputedHead, HeadBuffer>()
  const makeBuffer = (head: PrecomputedHead): HeadBuffer => {
    const common = head.code >= 400 ? errorLines : constantLines
    const made = new HeadBuffer(
      `${head.status}\r\nX-Content-Type-Options: ${common}\r\n${head.lines}\r\nX-Request-Id: `,
      `${requestIds.prefix}${nextBuffer()}.`,
    )
    buffers.set(head, made)
    return made
  }

  return (res, req, answer) => {
    const buffer = buffers.get(answer.head) ?? makeBuffer(answer.head)
    const given = requestIds.given(req)
    res.writeStatus(given === undefined ? buffer.numbered(answer) : buffer.named(given, answer))
  }
}

/**
 * Returns the writer for an endpoint with these further header lines. Endpoints without such lines share one writer. The
 * request ids of all writers differ.
 */
export const makePrecomputedWriters = (
  { constantLines, errorLines }: Pick<CrossOrigin, "constantLines" | "errorLines">,
  requestIds: RequestIds,
): ((ownLines: string | undefined) => PrecomputedWriter) => {
  let buffers = 0
  const nextBuffer = () => buffers++
  const shared = makeWriter(constantLines, errorLines, requestIds, nextBuffer)
  return (ownLines) =>
    ownLines === undefined
      ? shared
      : makeWriter(`${constantLines}${ownLines}`, `${errorLines}${ownLines}`, requestIds, nextBuffer)
}
