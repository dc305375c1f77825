import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { Publisher } from "../../../actors/ports.ts"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import type { DisplaySession, TokenResponse } from "../../../schema/accounts/session.ts"
import {
  NotFound,
  type TooManyRequests,
  type TwoFactorRequired,
  type Unauthorized,
  type Unavailable,
} from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import { currentDevice } from "../../http/request/device.ts"
import { type Account, Accounts, type SessionsEnded } from "../account-store.ts"
import { CallerCache } from "../caller-cache.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { SecondFactors } from "../two-factor/second-factors.ts"
import { makeRefreshSession } from "./refresh-session.ts"
import { makeSessionStore } from "./session-store.ts"
import { makeSessionTokens } from "./session-tokens.ts"
import { makeSessionTurn } from "./session-turn.ts"
import { SessionUses } from "./session-uses.ts"
import { makeVerifiedFactors } from "./verified-factors.ts"
import { makeVerifyCode } from "./verify-code.ts"

/**
 * The maximum number of complete logins of a user. The same maximum applies to logins that wait for a two-factor code.
 * A new login ends the least recently updated sessions above this number.
 */
const maxSessions = 200

/** How a session is opened. */
interface OpenedBy {
  readonly method:
    | "password"
    | "magic_link"
    | "registration"
    | "password_change"
    | "password_reset"
    | "console"
  readonly verifiedAt?: number | undefined
}

export class Sessions extends Context.Service<
  Sessions,
  {
    /**
     * Opens a new session. If `verifiedAt` is given, no code is required, because the second factor was verified at
     * that time.
     */
    open(account: Account, facts: OpenedBy): Effect.Effect<TokenResponse, Unavailable>
    refresh(refreshToken: string): Effect.Effect<TokenResponse, Unauthorized | Unavailable>
    /**
     * Verifies a two-factor code. A correct code completes a pending login, or starts a new grace period. With
     * `repeatsSetup`, the TOTP code that confirmed the setup is accepted once more: clients confirm the setup and then
     * log in with the same code.
     */
    verifyCode(
      refreshToken: string,
      code: string,
      options?: { readonly repeatsSetup: boolean },
    ): Effect.Effect<TokenResponse, Unauthorized | TooManyRequests | Unavailable>
    /**
     * Records that the user of the session has just verified a second factor without `verifyCode`, for example when
     * setting it up.
     */
    proven(sessionId: string): Effect.Effect<void, Unavailable>
    /**
     * Records that the user now has a second factor, which was verified in this session. The user's other sessions
     * become `Stale` if they never verified one.
     */
    factorEnabled(userId: string, sessionId: string): Effect.Effect<void, Unavailable>
    /** Records that the user has no second factor any more. No session of the user is `Stale` then. */
    factorsDisabled(userId: string): Effect.Effect<void, Unavailable>
    /** Records that a code of the session's user was refused, because the account is locked until this time. */
    locked(sessionId: string, until: number): Effect.Effect<void, Unavailable>
    /**
     * Fails unless a second factor was verified within the grace period. A lock of the account does not matter:
     * someone else may have caused it.
     */
    checkFresh(sessionId: string): Effect.Effect<void, TwoFactorRequired | Unavailable>
    /**
     * Returns the time when the second factor was last verified in this session, or undefined if it never was. A new
     * session that replaces this one takes over the time.
     */
    findVerifiedAt(sessionId: string): Effect.Effect<number | undefined, Unavailable>
    /** Lists the open sessions of the user. The session that was used last is the first one. */
    list(userId: string): Effect.Effect<ReadonlyArray<Omit<DisplaySession, "current">>, Unavailable>
    /** Ends one session of the user and its access tokens, in all processes. */
    endOne(userId: string, sessionId: string): Effect.Effect<void, NotFound | Unavailable>
    /** Ends all sessions and access tokens of the user, in all processes. */
    endAll(userId: string, reason: string): Effect.Effect<void, Unavailable>
    /** Publishes events and invalidates caches after a statement that ended the user's sessions. */
    ended(userId: string, ended: Pick<SessionsEnded, "events">): Effect.Effect<void>
  }
>()("directory/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const actors = yield* SessionActors
      const accounts = yield* Accounts
      const callers = yield* CallerCache
      const factors = yield* SecondFactors
      const publisher = yield* Publisher
      const securityLog = yield* SecurityLog
      const store = yield* makeSessionStore
      const uses = yield* SessionUses
      const turn = yield* makeSessionTurn
      const { renewal, respond } = yield* makeSessionTokens

      const ended = Effect.fnUntraced(function* (userId: string, { events }: Pick<SessionsEnded, "events">) {
        publisher.moved(events)
        yield* callers.changed(userId)
      })

      const open = Effect.fnUntraced(function* (account: Account, { method, ...facts }: OpenedBy) {
        const device = yield* currentDevice
        const sessionId = randomUUID()
        const verifiedAt = facts.verifiedAt ?? null
        const wants = verifiedAt === null ? (account.providers[0] ?? null) : null
        const { snapshot } = yield* turn(
          sessionId,
          (_, now) =>
            Effect.succeed({
              type: "OPEN",
              wants,
              verifiedAt,
              ...renewal(now, wants === null, device),
            } as const),
          { create: { id: sessionId, userId: account.id, epoch: account.epoch } },
        ).pipe(Effect.catchTag("Unauthorized", (failure) => Effect.die(failure)))
        yield* securityLog.record({
          event: wants === null ? "login.succeeded" : "login.code_required",
          userId: account.id,
          actorId: account.id,
          details: { method, session_id: sessionId },
        })
        const old = yield* accounts.endOldSessions(account.id, maxSessions)
        // The statement has ended these sessions in the database. Their actors in memory still have the earlier state,
        // so these actors are removed.
        for (const id of old?.session_ids ?? []) actors.passivate(id)
        if (old !== undefined) yield* ended(account.id, old)
        if (wants === "SMS") {
          // If no SMS can be sent, the login still waits for a code. After a refusal by the rate limit, the user can
          // enter the code of an earlier SMS or a backup code, or request another SMS later.
          yield* factors
            .sendSms(account.id, { confirmedOnly: true })
            .pipe(Effect.catchTags({ TooManyRequests: () => Effect.void, Unprocessable: () => Effect.void }))
        }
        return yield* respond(account, snapshot.context)
      })

      const list = Effect.fnUntraced(function* (userId: string) {
        const found = yield* store.list(userId)
        const now = isoTime(actors.now())
        return found
          .map(({ address, device, last_used_at, ...session }) => ({
            ...session,
            last_used_at: uses.isNoted(session.id) ? now : last_used_at,
            ...(device === null ? {} : { device }),
            ...(address === null || address === "" ? {} : { address }),
          }))
          .toSorted((a, b) =>
            a.last_used_at < b.last_used_at ? 1 : a.last_used_at > b.last_used_at ? -1 : 0,
          )
      })

      const endOne = Effect.fnUntraced(function* (userId: string, sessionId: string) {
        const notFound = () => new NotFound({ error: "Session not found. It may have ended already." })
        yield* turn(sessionId, ({ snapshot }) =>
          snapshot.context.userId === userId
            ? Effect.succeed({ type: "REVOKE", reason: "ended" } as const)
            : Effect.fail(notFound()),
        ).pipe(Effect.catchTag("Unauthorized", () => Effect.fail(notFound())))
        yield* securityLog.record({
          event: "session.ended",
          userId,
          details: { reason: "ended", session_id: sessionId },
        })
      })

      return Sessions.of({
        open,
        refresh: yield* makeRefreshSession,
        verifyCode: yield* makeVerifyCode,
        ...(yield* makeVerifiedFactors),
        list,
        endOne,
        endAll: Effect.fnUntraced(function* (userId, reason) {
          const done = yield* accounts.endSessions(userId, reason).pipe(callers.invalidating(userId))
          if (done === undefined) return
          publisher.moved(done.events)
          yield* securityLog.record({ event: "sessions.ended", userId, details: { reason } })
        }),
        ended,
      })
    }),
  )
}
