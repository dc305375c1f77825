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

/** The checks before a handler runs, in this order. */
export class Guards extends Context.Service<
  Guards,
  {
    /** Null only for the schemes `none` and `optional`. */
    authenticate(
      scheme: AuthScheme,
      request: RawRequest,
    ): Effect.Effect<Principal | null, Unauthorized | Unavailable>
    /** Absent when rate limits are off. */
    readonly limit?: (
      name: LimitName,
      request: RawRequest,
      principal: Principal | null,
    ) => Effect.Effect<RateHeaders, TooManyRequests | Unavailable>
    freshCode(principal: Principal): Effect.Effect<void, TwoFactorRequired | Unavailable>
    /** Runs the request once per Idempotency-Key. A repeated request gets the stored response. */
    once(
      key: string,
      routeId: string,
      request: RawRequest,
      principal: Principal | null,
      run: Effect.Effect<RawResponse>,
    ): Effect.Effect<RawResponse, InvalidRequest | Conflict | TooManyRequests | Unprocessable | Unavailable>
  }
>()("directory/Guards") {}

/** Request headers the guards read. */
export const authHeaders = ["authorization", "x-api-key"] as const
export const idempotencyHeader = "idempotency-key"
