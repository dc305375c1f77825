import { Effect, Layer } from "effect"
import { AppConfig } from "../config/config.ts"
import { Guards } from "../http/guards.ts"
import { makeIdempotency } from "../http/idempotency.ts"
import { RateLimits } from "../http/limits/rate-limits.ts"
import type { Principal } from "../http/principal.ts"
import { addressGroup } from "../http/request/caller-address.ts"
import type { LimitName } from "../http/route.ts"
import { makeAuthenticate } from "./authenticate.ts"
import { Sessions } from "./sessions/sessions.ts"

/**
 * Limits that count all credentials of a user together. They protect codes and mail addresses, and a user can create
 * many API keys.
 */
const limitsPerUser: ReadonlySet<LimitName> = new Set(["login", "mail", "code"])

/**
 * The key under which a caller's requests are counted for a rate limit. For most limits, each API key has its own
 * budget, and all sessions of a user share one.
 */
const callerKey = (name: LimitName, { keyId, userId, via }: Principal): string =>
  limitsPerUser.has(name) ? `user/${userId}` : `${via}/${keyId ?? userId}`

/**
 * Implements the checks that run before a handler: authentication, rate limits, a recent two-factor code, and
 * idempotency.
 */
export const guards = Layer.effect(
  Guards,
  Effect.gen(function* () {
    const authenticate = yield* makeAuthenticate
    const limits = yield* RateLimits
    const sessions = yield* Sessions
    const { rateLimit, requestDeadlineSeconds } = yield* AppConfig
    const once = yield* makeIdempotency(2 * requestDeadlineSeconds)
    const limit: Guards["Service"]["limit"] = (name, request, principal) =>
      limits.take(name, {
        address: addressGroup(request.address),
        ...(principal === null ? {} : { caller: callerKey(name, principal) }),
      })
    return Guards.of({
      authenticate,
      ...(rateLimit === "off" ? {} : { limit }),
      freshCode: (principal) => sessions.checkFresh(principal.sessionId),
      once,
    })
  }),
)
