import type { HttpResponse } from "uWebSockets.js"

const exposedHeaders =
  "X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, ETag, Location"
const corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
/**
 * The star allows other headers that libraries add, such as X-Requested-With. It does not include Authorization, and
 * older browsers do not support it, so the headers are also listed by name.
 */
const corsHeaders = "Authorization, Content-Type, X-Api-Key, Idempotency-Key, If-None-Match, X-Request-Id, *"

export const preflightHeaders = {
  "Access-Control-Allow-Methods": corsMethods,
  "Access-Control-Allow-Headers": corsHeaders,
  "Access-Control-Max-Age": "86400",
}

export interface CrossOrigin {
  /** True if every origin is allowed. Then the Origin header of requests is not read. */
  readonly anyOrigin: boolean
  /**
   * The value of X-Content-Type-Options, followed by the header lines after it. So one native call writes all
   * constant headers.
   */
  readonly constantLines: string
  /** Writes the headers that allow scripts of this origin to read the response, if the origin is allowed. */
  writeOrigin(res: HttpResponse, origin: string): void
}

export const makeCrossOrigin = (origins: ReadonlyArray<string>): CrossOrigin => {
  const anyOrigin = origins.includes("*")
  const allowed = new Set(origins)
  return {
    anyOrigin,
    constantLines: anyOrigin
      ? "nosniff\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: *"
      : "nosniff\r\nVary: Origin",
    writeOrigin: (res, origin) => {
      if (!allowed.has(origin)) return
      res.writeHeader(
        "Access-Control-Allow-Origin",
        `${origin}\r\nAccess-Control-Expose-Headers: ${exposedHeaders}`,
      )
    },
  }
}
