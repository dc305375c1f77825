import type { HttpRequest } from "uWebSockets.js"
import { randomBytes } from "node:crypto"
import { headerKey } from "./header-key.ts"

const key = headerKey("x-request-id")
const acceptable = /^[\w.-]{1,64}$/

/**
 * Makes request ids. The id is the client's X-Request-Id if it is safe to send back; otherwise a prefix and a number.
 */
export interface RequestIds {
  readonly prefix: string
  /** Returns the client's X-Request-Id, or undefined if the client sent none or an unsafe one. */
  given(req: HttpRequest): string | undefined
  of(req: HttpRequest): string
}

export const makeRequestIds = (): RequestIds => {
  const prefix = `${randomBytes(6).toString("hex")}-`
  let count = 0
  const given = (req: HttpRequest) => {
    const text = req.getHeader(key)
    return text !== "" && acceptable.test(text) ? text : undefined
  }
  return { prefix, given, of: (req) => given(req) ?? prefix + ++count }
}
