import { STATUS_CODES } from "node:http"
import type { RawResponse } from "../endpoint.ts"

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
)
export const statusLine = (status: number): string => statusLines.get(status) ?? String(status)

// Matches characters that a header value must not contain. Values are written without escaping, so a line break in a
// value would split the response.
const unsafeHeader = /[^\t\x20-\x7e\x80-\xff]/

/**
 * Joins all headers into lines. It throws if a value is unsafe. At that point no byte of the response is written, so
 * the server can still respond with 500.
 */
export const headerLines = ({ headers }: RawResponse): string => {
  let lines = ""
  for (const name in headers) {
    const value = headers[name] ?? ""
    for (const one of typeof value === "string" ? [value] : value) {
      if (unsafeHeader.test(one)) throw new Error(`unsafe value for header ${name}`)
      lines += `\r\n${name}: ${one}`
    }
  }
  return lines
}
