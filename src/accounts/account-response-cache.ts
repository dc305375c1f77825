import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { InvalidatedCache } from "../cluster/invalidated-cache.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import type { Precomputed, RequestView } from "../http/endpoint.ts"
import { headerKey } from "../http/request/header-key.ts"
import { StaticResponse } from "../http/response/static.ts"
import { type Caller, CallerCache } from "./caller-cache.ts"
import { Tokens } from "./sessions/tokens.ts"

const capacity = 10_000
/**
 * A cached response is used for at most this long, because `two_factor_should_prompt` in it depends on the current
 * time.
 */
const keepMs = 60_000
const authorizationKey = headerKey("authorization")
const prefix = "Bearer "
const head = {
  code: 200,
  status: "200 OK",
  lines: "Content-Type: application/json\r\nCache-Control: no-store",
}

interface Entry {
  readonly caller: Caller
  readonly response: Precomputed
  readonly untilMs: number
}

/**
 * Caches the response of `GET /account` for each user, for at most one minute and only until something in it changes.
 * If the token, its user and the response are all cached, a request needs no query and no fiber.
 */
export class AccountResponseCache extends Context.Service<
  AccountResponseCache,
  {
    readonly prepared: (view: RequestView) => Precomputed | undefined
    /**
     * Call this before reading the account. The returned function caches the response. It does nothing if the caller
     * of this user was not cached at the time of the call, or if the user or any account was invalidated since then.
     */
    readonly watch: (userId: string) => (body: string) => void
    /** Returns a function that runs a statement that changes the response of the user. */
    invalidating(
      userId: string,
    ): <A, E, R>(statement: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
  }
>()("directory/AccountResponseCache") {
  static readonly layer = Layer.effect(
    AccountResponseCache,
    Effect.gen(function* () {
      const bus = yield* Bus
      const callers = yield* CallerCache
      const tokens = yield* Tokens
      const memory = new InvalidatedCache<Entry>(bus, { topics: [accountTopic], capacity })

      return AccountResponseCache.of({
        prepared: (view) => {
          const authorization = view.getHeader(authorizationKey)
          if (!authorization.startsWith(prefix)) return undefined
          const claims = tokens.verifyCached(authorization.slice(prefix.length), "access")
          if (claims === undefined) return undefined
          // The invalidation of a user removes the cached caller. A response is used only together with the caller for
          // which it was cached, so a response from before the invalidation is never used.
          const caller = callers.remembered(claims.sub)
          if (caller === undefined || !caller.active || caller.epoch !== claims.ep) return undefined
          if (caller.revokedSessions.has(claims.sid)) return undefined
          const entry = memory.recall(claims.sub)
          return entry?.caller === caller && entry.untilMs > performance.now() ? entry.response : undefined
        },
        watch: (userId) => {
          const caller = callers.remembered(userId)
          const remember = memory.watch()
          return (body) => {
            if (caller === undefined || callers.remembered(userId) !== caller) return
            const response = new StaticResponse(head, "", body)
            remember(caller.id, { caller, response, untilMs: performance.now() + keepMs })
          }
        },
        invalidating: (userId) => bus.invalidating({ [accountTopic]: [userId] }),
      })
    }),
  )
}
