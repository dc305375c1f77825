import { Context } from "effect"
import type { RawRequest } from "../endpoint.ts"
import type { Principal } from "../principal.ts"

/** How the caller is authenticated, or what runs if there is no request. */
export type Via = "session" | "api_key" | "oauth" | "anonymous" | "command_line" | "service"

/** Who sent the current request, and from where. */
export interface Origin {
  readonly requestId: string
  readonly address: string
  readonly userAgent: string
  /** The authenticated user, or null. */
  readonly userId: string | null
  readonly via: Via
}

/**
 * The origin of the current request. Handlers of writes, and of routes with `needsAddress`, can read it, and so can
 * everything that they call. Work without a request, such as a sweep, gets the default.
 */
export const RequestOrigin = Context.Reference<Origin>("directory/RequestOrigin", {
  defaultValue: () => ({ requestId: "", address: "", userAgent: "", userId: null, via: "service" }),
})

/** The request header that the origin contains. */
export const userAgentHeader = "user-agent"
const maxUserAgent = 256

/** Returns a User-Agent that can be stored and logged: of limited length, without control characters. */
const readUserAgent = (header: string | undefined): string =>
  (header ?? "")
    .slice(0, maxUserAgent)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "")

export const originOf = (request: RawRequest, principal: Principal | null): Origin => ({
  requestId: request.id,
  address: request.address,
  // Most requests cause no security event, so the header is read only if it is needed.
  get userAgent() {
    return readUserAgent(request.headers[userAgentHeader])
  },
  userId: principal?.userId ?? null,
  via: principal?.via ?? "anonymous",
})
