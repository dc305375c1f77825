import { Effect } from "effect"
import { TooManyRequests, type Unavailable } from "../../../schema/errors.ts"
import type { RawRequest } from "../../http/endpoint.ts"
import { authHeaders, Guards } from "../../http/guards.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { callerKey } from "../../http/principal.ts"
import { addressGroup } from "../../http/request/caller-address.ts"

/** Runs before a lookup that needs a query. It fails if the caller has no lookups left. */
export type AdmitCold = Effect.Effect<void, TooManyRequests | Unavailable, Guards | RateLimits>

const hasCredentials = (headers: RawRequest["headers"]): boolean =>
  authHeaders.some((name) => (headers[name] ?? "") !== "")

const refuse = (retryAfterSeconds: number) =>
  Effect.fail(
    new TooManyRequests({
      error:
        "Too many lookups of emoji ids that are not in the cache. Retry after the time in the Retry-After header, or send an API key.",
      retryAfterSeconds,
    }),
  )

/** Counts a lookup that is not in the cache, by the caller's address. Returns whether the address had one left. */
export const mayReadCold = (
  limits: RateLimits["Service"],
  { address }: Pick<RawRequest, "address">,
): boolean => limits.exceeds("lookup", "address", addressGroup(address)) === undefined

/** Counts the lookup for the caller of the credentials. */
const admitCaller = Effect.fnUntraced(
  function* (headers: RawRequest["headers"], waitSeconds: number) {
    const principal = yield* (yield* Guards).authenticate("optional", { headers })
    if (principal === null) return yield* refuse(waitSeconds)
    const callerWait = (yield* RateLimits).exceeds("lookup", "caller", callerKey(principal))
    if (callerWait !== undefined) return yield* refuse(callerWait)
  },
  Effect.catchTag("Unauthorized", Effect.die),
)

/**
 * Counts a lookup that is not in the cache, by the caller's address. Credentials are checked only when the address has
 * no lookups left, so they cost nothing before. A caller with a valid API key or access token then has a budget of its
 * own. The number of these checks is limited too, because checking unknown credentials needs a query.
 */
export const admitCold = ({ address, headers }: Pick<RawRequest, "address" | "headers">): AdmitCold =>
  RateLimits.use((limits) => {
    const from = addressGroup(address)
    const waitSeconds = limits.exceeds("lookup", "address", from)
    if (waitSeconds === undefined) return Effect.void
    return hasCredentials(headers) && limits.exceeds("credentials", "address", from) === undefined
      ? admitCaller(headers, waitSeconds)
      : refuse(waitSeconds)
  })
