import { Context, Effect, Layer } from "effect"
import type { Written } from "../../../actors/operation.ts"
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
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { Accounts, type SessionsEnded, type SessionUser } from "../account-store.ts"
import { CallerCache } from "../caller-cache.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { makeOpenSession, type Opened, type OpenedBy, type PlannedSession } from "./open-session.ts"
import { makeRefreshSession, type Refreshed } from "./refresh-session.ts"
import { makeSessionStore } from "./session-store.ts"
import { makeSessionTurn } from "./session-turn.ts"
import { SessionUses } from "./session-uses.ts"
import { makeVerifiedFactors } from "./verified-factors.ts"
import { type CodeVerified, makeVerifyCode } from "./verify-code.ts"

interface EndedOne {
  readonly userId: string
  readonly sessionId: string
}
type EndedAll = WriteOutcome<
  { readonly ended: SessionsEnded | null },
  { readonly userId: string; readonly reason: string }
>

export class Sessions extends Context.Service<
  Sessions,
  {
    /** Opens a new session. This completes the request. */
    open(user: SessionUser, facts: OpenedBy): Effect.Effect<Written<Opened>, Unavailable>
    /** Returns the tokens of the session that was opened, and ends the user's oldest sessions if there are too many. */
    opened(session: Opened): Effect.Effect<TokenResponse, Unavailable>
    /** Opens a planned session after the change that requires it. If it is open already, returns the same tokens. */
    openPlanned(
      user: SessionUser,
      planned: PlannedSession,
      facts: OpenedBy,
    ): Effect.Effect<TokenResponse, Unavailable>
    refresh(refreshToken: string): Effect.Effect<Written<Refreshed>, Unauthorized | Unavailable>
    /** Returns the new tokens. Fails if the refresh token had already been used. */
    refreshed(outcome: Refreshed): Effect.Effect<TokenResponse, Unauthorized | Unavailable>
    /**
     * Verifies a two-factor code. A correct code completes a pending login, or starts a new grace period. With
     * `repeatsSetup`, the TOTP code that confirmed the setup is accepted once more: clients confirm the setup and then
     * log in with the same code.
     */
    verifyCode(
      refreshToken: string,
      code: string,
      options?: { readonly repeatsSetup: boolean },
    ): Effect.Effect<Written<CodeVerified>, Unauthorized | TooManyRequests | Unavailable>
    /** Returns the new tokens. Fails if the code was wrong or the refresh token had already been used. */
    codeVerified(outcome: CodeVerified): Effect.Effect<TokenResponse, Unauthorized | Unavailable>
    /**
     * Records that the user of the session has just verified a second factor without `verifyCode`, for example when
     * setting it up.
     */
    proven(sessionId: string): Effect.Effect<void, Unavailable>
    /**
     * Records that the user now has a second factor, which was verified in this session at this time. The user's other
     * sessions become `Stale` if they never verified one.
     */
    factorEnabled(userId: string, sessionId: string, at: number): Effect.Effect<void, Unavailable>
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
    endOne(userId: string, sessionId: string): Effect.Effect<Written<EndedOne>, NotFound | Unavailable>
    /** Records that the session was ended. */
    endedOne(ended: EndedOne): Effect.Effect<void>
    /** Ends all sessions and access tokens of the user, in all processes. */
    endAll(userId: string, reason: string): Effect.Effect<Written<EndedAll>, Unavailable>
    /** Publishes and records that the sessions were ended. */
    endedAll(ended: EndedAll): Effect.Effect<void>
    /** Publishes events after a statement that ended the user's sessions. */
    ended(ended: Pick<SessionsEnded, "events">): Effect.Effect<void>
  }
>()("directory/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const actors = yield* SessionActors
      const accounts = yield* Accounts
      const callers = yield* CallerCache
      const publisher = yield* Publisher
      const securityLog = yield* SecurityLog
      const store = yield* makeSessionStore
      const uses = yield* SessionUses
      const turn = yield* makeSessionTurn

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

      const endOne = (userId: string, sessionId: string) => {
        const notFound = () => new NotFound({ error: "Session not found. It may have ended already." })
        return turn(
          sessionId,
          ({ snapshot }) =>
            snapshot.context.userId === userId
              ? Effect.succeed({ type: "REVOKE", reason: "ended" } as const)
              : Effect.fail(notFound()),
          { outcome: () => ({ userId, sessionId }) },
        ).pipe(
          Effect.map(({ written }) => written),
          Effect.catchTag("Unauthorized", () => Effect.fail(notFound())),
        )
      }

      return Sessions.of({
        ...(yield* makeOpenSession),
        ...(yield* makeRefreshSession),
        ...(yield* makeVerifyCode),
        ...(yield* makeVerifiedFactors),
        list,
        endOne,
        endedOne: ({ sessionId, userId }) =>
          securityLog.record({
            event: "session.ended",
            userId,
            details: { reason: "ended", session_id: sessionId },
          }),
        endAll: (userId, reason) =>
          accounts.endSessions(userId, reason, { userId, reason }).pipe(callers.invalidating(userId)),
        endedAll: Effect.fnUntraced(function* ({ keep: { reason, userId }, rows }) {
          const done = rows[0]?.ended ?? null
          if (done === null) return
          publisher.moved(done.events)
          yield* securityLog.record({ event: "sessions.ended", userId, details: { reason } })
        }),
        ended: ({ events }) => Effect.sync(() => publisher.moved(events)),
      })
    }),
  )
}
