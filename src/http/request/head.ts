import type { HttpRequest } from "uWebSockets.js"
import { idempotencyHeader } from "../guards.ts"
import { headerKey } from "./header-key.ts"

const contentLength = headerKey("content-length")
const digits = /^\d+$/

/** What a client says of the length of its body; empty when it says nothing. */
export const contentLengthOf = (req: HttpRequest): string => req.getHeader(contentLength)

/** What one look at all the headers tells. */
export interface HeadFacts {
  /**
   * Whether every parser reads the same length. Of several lengths the library takes the first, an empty one for none and any
   * coding for chunks. A proxy in front may do otherwise: what it forwards as a body would be a request of its own here, and
   * be answered to whoever comes next on that connection.
   */
  readonly hasValidLength: boolean
  /** There is a key, of which nothing is left: letters at the ends of a value that are not ASCII may count as spaces. */
  readonly hasEmptyKey: boolean
}

export const clearHead: HeadFacts = { hasValidLength: true, hasEmptyKey: false }

export const readHead = (req: HttpRequest): HeadFacts => {
  let said = 0
  let isClear = true
  let hasEmptyKey = false
  req.forEach((name, value) => {
    if (name === "content-length") isClear &&= ++said === 1 && digits.test(value)
    else if (name === "transfer-encoding") isClear &&= ++said === 1 && value.toLowerCase() === "chunked"
    else if (value === "" && name === idempotencyHeader) hasEmptyKey = true
  })
  return { hasValidLength: isClear, hasEmptyKey }
}

export const hasValidLength = (req: HttpRequest): boolean => readHead(req).hasValidLength
