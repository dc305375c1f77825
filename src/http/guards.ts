import { Context, type Effect } from "effect"
import type {
  Conflict,
  InvalidRequest,
  TooManyRequests,
  TwoFactorRequired,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from "../../schema/errors.ts"
import type { RawRequest, RawResponse } from "./endpoint.ts"
import type { Principal } from "./principal.ts"
import type { AuthScheme, LimitName } from "./route.ts"

export type RateHeaders = Readonly<Record<string, string>>

/**
 * The checks that run before a handler: first `authenticate` and `limit`; then `once`, if the request has an
 * Idempotency-Key; then `freshCode`, if the route is sensitive.
 */
export class Guards extends Context.Service<
  Guards,
  {
    /**
     * Returns the authenticated caller, or null for an anonymous caller. Only the schemes `none` and `optional` allow
     * anonymous callers.
     */
    authenticate(
      scheme: AuthScheme,
      request: Pick<RawRequest, "headers">,
    ): Effect.Effect<Principal | null, Unauthorized | Unavailable>
    /** Counts the request against a rate limit. Absent if rate limits are turned off. */
    readonly limit?: (
      name: LimitName,
      request: RawRequest,
      principal: Principal | null,
    ) => Effect.Effect<RateHeaders, TooManyRequests | Unavailable>
    freshCode(principal: Principal): Effect.Effect<void, TwoFactorRequired | Unavailable>
    /** Runs the request only once for each Idempotency-Key. A repeated request gets the stored response. */
    once(
      key: string,
      routeId: string,
      request: RawRequest,
      principal: Principal | null,
      run: Effect.Effect<RawResponse>,
    ): Effect.Effect<RawResponse, InvalidRequest | Conflict | TooManyRequests | Unprocessable | Unavailable>
    /**
     * Answers the retry of a request that ended its own login, for example a logout, or took away its own permission. Its
     * token is valid except that the session has ended. Returns undefined if this caller did not complete this request with this key.
     */
    afterEnd(
      key: string,
      routeId: string,
      request: RawRequest,
      run: (principal: Principal) => Effect.Effect<RawResponse>,
    ): Effect.Effect<RawResponse | undefined, Conflict | Unavailable>
  }
>()("directory/Guards") {}

/** The request headers that `authenticate` reads. */
export const authHeaders = ["authorization", "x-api-key"] as const
export const idempotencyHeader = "idempotency-key"
