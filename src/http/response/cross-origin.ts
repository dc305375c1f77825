import type { HttpResponse } from "uWebSockets.js"

const exposedHeaders =
  "X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, ETag, Location"
const corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
/** Libraries add what nobody reads here, such as X-Requested-With. Older browsers know no star, and it never stands for the first. */
const corsHeaders = "Authorization, Content-Type, X-Api-Key, Idempotency-Key, If-None-Match, X-Request-Id, *"

export const preflightHeaders = {
  "Access-Control-Allow-Methods": corsMethods,
  "Access-Control-Allow-Headers": corsHeaders,
  "Access-Control-Max-Age": "86400",
}

export interface CrossOrigin {
  /** Whom everybody may ask, everybody may read whole: then no origin need be looked at. */
  readonly anyOrigin: boolean
  /** The rest of the line X-Content-Type-Options and what follows it: one native call writes all that never changes. */
  readonly constantLines: string
  /** Lets scripts of that origin read the answer, if it is one of ours. */
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
