import type { HttpRequest } from "uWebSockets.js"
import { headerKey } from "./header-key.ts"

const contentLength = headerKey("content-length")
const digits = /^\d+$/

/** What a client says of the length of its body; empty when it says nothing. */
export const lengthSaid = (req: HttpRequest): string => req.getHeader(contentLength)

/**
 * Whether every parser reads the same length. Of several lengths the library takes the first, an empty one for none and any
 * coding for chunks. A proxy in front may do otherwise: what it forwards as a body would be a request of its own here, and
 * be answered to whoever comes next on that connection.
 */
export const isLengthClear = (req: HttpRequest): boolean => {
  let said = 0
  let isClear = true
  req.forEach((name, value) => {
    if (name === "content-length") isClear &&= ++said === 1 && digits.test(value)
    else if (name === "transfer-encoding") isClear &&= ++said === 1 && value.toLowerCase() === "chunked"
  })
  return isClear
}
