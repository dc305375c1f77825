import type { HttpRequest } from "uWebSockets.js"
import { idempotencyHeader } from "../guards.ts"
import { headerKey } from "./header-key.ts"

const contentLength = headerKey("content-length")
const digits = /^\d+$/

/** Returns the Content-Length header, or an empty string if it is absent. */
export const contentLengthOf = (req: HttpRequest): string => req.getHeader(contentLength)

/** What one pass over all headers finds. */
export interface HeadFacts {
  /**
   * Whether every parser reads the same body length (otherwise request smuggling is possible). The library uses the
   * first of several lengths, ignores an empty one, and treats every transfer coding as chunked. A proxy may read
   * them differently: what it forwards as a body would be a second request here, and its response would reach the
   * next client of that connection.
   */
  readonly hasValidLength: boolean
  /** The Idempotency-Key is empty. The library may trim non-ASCII characters at the ends of a value like spaces. */
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
