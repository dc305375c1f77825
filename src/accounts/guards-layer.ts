import { Effect, Layer } from "effect"
import { AppConfig } from "../config/read-config.ts"
import { Guards } from "../http/guards.ts"
import { makeIdempotency } from "../http/idempotency.ts"
import { RateLimits } from "../http/limits/rate-limits.ts"
import { callerKey, type Principal } from "../http/principal.ts"
import { addressGroup } from "../http/request/caller-address.ts"
import type { LimitName } from "../http/route.ts"
import { makeAuthenticate } from "./authenticate.ts"
import { makeFindEndedCaller } from "./sessions/ended-caller.ts"
import { Sessions } from "./sessions/sessions.ts"

/**
 * Limits that count all credentials of a user together. They protect codes and mail addresses, and a user can create
 * many API keys.
 */
const limitsPerUser: ReadonlySet<LimitName> = new Set(["login", "mail", "code"])

const subjectOf = (name: LimitName, principal: Principal): string =>
  limitsPerUser.has(name) ? `user/${principal.userId}` : callerKey(principal)

/**
 * Implements the checks that run before a handler: authentication, rate limits, a recent two-factor code, and
 * idempotency.
 */
export const guards = Layer.effect(
  Guards,
  Effect.gen(function* () {
    const authenticate = yield* makeAuthenticate
    const findEnded = yield* makeFindEndedCaller
    const limits = yield* RateLimits
    const sessions = yield* Sessions
    const { idempotencyKeepHours, rateLimit, requestDeadlineSeconds } = yield* AppConfig
    const { once, repeat } = yield* makeIdempotency(2 * requestDeadlineSeconds, 3600 * idempotencyKeepHours)
    const limit: Guards["Service"]["limit"] = (name, request, principal) =>
      limits.take(name, {
        address: addressGroup(request.address),
        ...(principal === null ? {} : { caller: subjectOf(name, principal) }),
      })
    return Guards.of({
      authenticate,
      ...(rateLimit === "off" ? {} : { limit }),
      freshCode: (principal) => sessions.checkFresh(principal.sessionId),
      once,
      afterEnd: (key, routeId, request, run) =>
        Effect.flatMap(findEnded(request), (principal) =>
          principal === undefined
            ? Effect.succeed(undefined)
            : repeat(key, routeId, request, principal, run(principal)),
        ),
    })
  }),
)
