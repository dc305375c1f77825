import type { HttpRequest } from "uWebSockets.js"
import { idempotencyHeader } from "../guards.ts"
import { headerKey } from "./header-key.ts"

const contentLength = headerKey("content-length")
const digits = /^\d+$/

/** Returns the Content-Length header, or an empty string if it is absent. */
export const contentLengthOf = (req: HttpRequest): string => req.getHeader(contentLength)

const transferEncoding = headerKey("transfer-encoding")

/** Whether the headers announce a body, so that they must be checked. Most GET requests announce none. */
export const announcesBody = (req: HttpRequest): boolean =>
  req.getHeader(contentLength) !== "" || req.getHeader(transferEncoding) !== ""

/** The facts that one pass over all request headers finds. */
export interface HeadFacts {
  /**
   * Whether every parser reads the same body length; otherwise request smuggling is possible. If there are several
   * lengths, the library uses the first one; it ignores an empty length and treats every transfer coding as chunked.
   * A proxy may decide differently. Then bytes that the proxy forwards as a body would be a second request here, and
   * the response to that request would reach the next client of the proxy's connection.
   */
  readonly hasValidLength: boolean
  /**
   * Whether the Idempotency-Key is present but empty. The library can make a key empty: it may remove non-ASCII
   * characters at the ends of a value, like spaces.
   */
  readonly hasEmptyKey: boolean
}

export const clearHead: HeadFacts = { hasValidLength: true, hasEmptyKey: false }

export const readHead = (req: HttpRequest): HeadFacts => {
  let lengths = 0
  let isValid = true
  let hasEmptyKey = false
  req.forEach((name, value) => {
    if (name === "content-length") isValid &&= ++lengths === 1 && digits.test(value)
    else if (name === "transfer-encoding") isValid &&= ++lengths === 1 && value.toLowerCase() === "chunked"
    else if (value === "" && name === idempotencyHeader) hasEmptyKey = true
  })
  return { hasValidLength: isValid, hasEmptyKey }
}

export const hasValidLength = (req: HttpRequest): boolean => readHead(req).hasValidLength
