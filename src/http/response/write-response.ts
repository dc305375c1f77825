import type { HttpResponse } from "uWebSockets.js"
import type { Endpoint, RawResponse } from "../endpoint.ts"
import type { CrossOrigin } from "./cross-origin.ts"
import { statusLine } from "./header-lines.ts"
import { sendNoBody, writeBody } from "./write-body.ts"

/** Where and how the response to a request is written. Its status and body are passed separately, as a `RawResponse`. */
export interface ResponseTarget {
  readonly res: HttpResponse
  readonly requestId: string
  /** The Origin header of the request. Empty if every origin is allowed, because the header is not needed then. */
  readonly origin: string
  /** Whether it is a HEAD request. Its response has the headers of a GET response, and no body. */
  readonly head: boolean
  readonly endpoint: Endpoint | undefined
}

/**
 * Makes a function that writes status, headers and body. A native call costs more than joining short strings, so one
 * call writes all headers except those of `writeOrigin`.
 */
export const makeResponseWriter = (
  { anyOrigin, constantLines, errorLines, sameOriginLines, writeOrigin }: CrossOrigin,
  state: { readonly isDraining: boolean },
) => {
  const commonLines = `\r\nX-Content-Type-Options: ${constantLines}`
  const commonErrorLines = `\r\nX-Content-Type-Options: ${errorLines}`
  const ownLines = `\r\nX-Content-Type-Options: ${sameOriginLines}`

  return (
    { endpoint, head, origin, requestId, res }: ResponseTarget,
    response: RawResponse,
    lines: string,
    close: boolean,
    isWatched: boolean,
  ) => {
    if (response.status !== 200) res.writeStatus(statusLine(response.status))
    const end = close || state.isDraining ? "\r\nConnection: close" : ""
    const isSameOrigin = endpoint?.sameOrigin === true
    const common = isSameOrigin ? ownLines : response.status >= 400 ? commonErrorLines : commonLines
    const body = response.body ?? ""
    const hasContent = response.status !== 204 && response.status !== 304
    // For HEAD, Content-Length is written as an ordinary header. If the library itself wrote the length, it would
    // wait for that many bytes of a body and drop the next request of the connection.
    const isLengthOurs = head && hasContent && !close
    const length = isLengthOurs ? `\r\nContent-Length: ${Buffer.byteLength(body)}` : ""
    const deprecation = endpoint?.deprecationLines ?? ""
    res.writeHeader("X-Request-Id", `${requestId}${common}${lines}${deprecation}${length}${end}`)
    if (!anyOrigin && !isSameOrigin) writeOrigin(res, origin)
    // `end` with any argument, even undefined, adds a Content-Length, which responses with 204 and 304 must not have.
    if (close) res.end(head ? "" : body, close)
    else if (head || !hasContent) sendNoBody(res)
    else writeBody(res, body, isWatched)
  }
}
