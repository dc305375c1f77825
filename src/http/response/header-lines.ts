import { STATUS_CODES } from "node:http"
import type { RawResponse } from "../endpoint.ts"

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
)
export const statusLine = (status: number): string => statusLines.get(status) ?? String(status)

// Header values are written without escaping, so a line break would split the response.
const unsafeHeader = /[^\t\x20-\x7e\x80-\xff]/

/**
 * Joins the header lines. It throws on an unsafe value before the first byte is written, so that a 500 is still
 * possible.
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
