import type { HttpResponse } from "uWebSockets.js"

/** The response headers that scripts may read. Browsers always let them read Content-Type and Cache-Control. */
const exposedHeaders = [
  "X-Request-Id",
  "X-Error-Code",
  "Idempotent-Replayed",
  "Retry-After",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "ETag",
  "Link",
  "Deprecation",
  "Sunset",
  "Location",
  "Allow",
  "WWW-Authenticate",
].join(", ")
/** Tells browsers to use only HTTPS for this host, for a year. */
const httpsOnly = "\r\nStrict-Transport-Security: max-age=31536000"
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

/** The header lines that the settings determine. They are made once, at startup. */
export interface CrossOrigin {
  /** True if every origin is allowed. Then the Origin header of requests is not read. */
  readonly anyOrigin: boolean
  /**
   * The value of X-Content-Type-Options, followed by the header lines after it. So one native call writes all
   * constant headers.
   */
  readonly constantLines: string
  /**
   * Like `constantLines`, for errors. The headers are also listed by name, because older browsers do not support the
   * star. Other responses, above all cached lookups, have the shorter form.
   */
  readonly errorLines: string
  /** Like `constantLines`, for responses that scripts of other origins must not read. */
  readonly sameOriginLines: string
  /** Writes the headers that allow scripts of this origin to read the response, if the origin is allowed. */
  writeOrigin(res: HttpResponse, origin: string): void
}

export const makeCrossOrigin = (origins: ReadonlyArray<string>, isHttps: boolean): CrossOrigin => {
  const anyOrigin = origins.includes("*")
  const allowed = new Set(origins)
  const sameOriginLines = `nosniff${isHttps ? httpsOnly : ""}`
  const constantLines = anyOrigin
    ? `${sameOriginLines}\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: *`
    : `${sameOriginLines}\r\nVary: Origin`
  return {
    anyOrigin,
    sameOriginLines,
    constantLines,
    errorLines: anyOrigin ? `${constantLines}, ${exposedHeaders}` : constantLines,
    writeOrigin: (res, origin) => {
      if (!allowed.has(origin)) return
      res.writeHeader(
        "Access-Control-Allow-Origin",
        `${origin}\r\nAccess-Control-Expose-Headers: ${exposedHeaders}`,
      )
    },
  }
}
