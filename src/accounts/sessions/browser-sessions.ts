import { Context, Effect, Layer } from "effect"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import { roleScopes } from "../../../schema/accounts/scope.ts"
import type { Unavailable } from "../../../schema/errors.ts"
import type { Principal } from "../../http/principal.ts"
import { type Account, Accounts } from "../account-store.ts"
import { CallerCache } from "../caller-cache.ts"
import { RefreshTokens } from "./refresh-tokens.ts"
import { SessionUses } from "./session-uses.ts"

export interface BrowserSession {
  readonly sessionId: string
  readonly account: Account
  /** Whether the login is complete: the second factor was verified, or none was required. */
  readonly admitted: boolean
  readonly principal: Principal
}

/**
 * Finds sessions by a refresh token or an id. The refresh token is not replaced, because pages are loaded repeatedly
 * with the same token, and a partner gets the same token back.
 */
export class BrowserSessions extends Context.Service<
  BrowserSessions,
  {
    /**
     * Finds a session by its newest refresh token. Returns undefined if the token is invalid or not the newest, or if
     * the session is not valid.
     */
    find(refreshToken: string): Effect.Effect<BrowserSession | undefined, Unavailable>
    /** Finds a session by its id. Returns undefined if the session is not valid. */
    findById(sessionId: string): Effect.Effect<BrowserSession | undefined, Unavailable>
  }
>()("directory/BrowserSessions") {
  static readonly layer = Layer.effect(
    BrowserSessions,
    Effect.gen(function* () {
      const actors = yield* SessionActors
      const accounts = yield* Accounts
      const callers = yield* CallerCache
      const tokens = yield* RefreshTokens
      const uses = yield* SessionUses

      const load = Effect.fnUntraced(function* (sessionId: string, generation: number | undefined) {
        const found = yield* actors.find(sessionId)
        if (found === undefined) return undefined
        const { context, value } = found.snapshot
        if (value === "Revoked" || value === "Expired" || actors.now() >= context.expiresAt) return undefined
        if (generation !== undefined && generation !== context.generation) return undefined
        const account = yield* accounts.find({ id: context.userId })
        const caller = yield* callers.find(context.userId)
        const isValid =
          account?.active && account.epoch === context.epoch && !caller?.revokedSessions.has(sessionId)
        if (!isValid || caller === undefined) return undefined
        uses.note(sessionId)
        const principal: Principal = {
          userId: caller.id,
          role: caller.role,
          scopes: roleScopes[caller.role],
          via: "session",
          sessionId,
          emojiId: undefined,
          organizations: caller.organizations,
          twoFactor: caller.twoFactor,
        }
        return { sessionId, account, admitted: context.admitted, principal } satisfies BrowserSession
      })

      return BrowserSessions.of({
        find: (refreshToken) => {
          const facts = tokens.read(refreshToken)
          return facts === undefined ? Effect.succeed(undefined) : load(facts.sessionId, facts.generation)
        },
        findById: (sessionId) => load(sessionId, undefined),
      })
    }),
  )
}
