import type { HttpResponse } from "uWebSockets.js"

const exposedHeaders =
  "X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, ETag, Location"
const corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
/**
 * The star allows headers that libraries add, such as X-Requested-With. It never covers Authorization, nor older
 * browsers.
 */
const corsHeaders = "Authorization, Content-Type, X-Api-Key, Idempotency-Key, If-None-Match, X-Request-Id, *"

export const preflightHeaders = {
  "Access-Control-Allow-Methods": corsMethods,
  "Access-Control-Allow-Headers": corsHeaders,
  "Access-Control-Max-Age": "86400",
}

export interface CrossOrigin {
  /** Every origin is allowed, so the Origin header is not read. */
  readonly anyOrigin: boolean
  /** The value of X-Content-Type-Options and the header lines after it. One native call writes all constant headers. */
  readonly constantLines: string
  /** Allows scripts of that origin to read the response, if the origin is allowed. */
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
