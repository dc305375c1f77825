import { randomUUID } from "node:crypto"
import { Context, Data, Effect, Layer } from "effect"
import { Publisher } from "../../../actors/ports.ts"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import { isFresh } from "../../../machines/accounts/two-factor-session.ts"
import type { TokenResponse } from "../../../schema/accounts/session.ts"
import type { SessionContext } from "../../../schema/accounts/session-snapshot.ts"
import {
  TooManyRequests,
  TwoFactorRequired,
  type Unauthorized,
  type Unavailable,
} from "../../../schema/errors.ts"
import { AppConfig } from "../../config/config.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { type Account, Accounts, type SessionsEnded } from "../account-store.ts"
import { CallerCache } from "../caller-cache.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { SecondFactors } from "../two-factor/second-factors.ts"
import type { Proof } from "../two-factor/two-factor-store.ts"
import { makeRefreshReuse, refused, revokeFamily } from "./refresh-reuse.ts"
import { type RefreshTokenFacts, RefreshTokens } from "./refresh-tokens.ts"
import { Tokens } from "./tokens.ts"

/**
 * After a refresh, the previous refresh token stays valid for this time, because a client may refresh several times
 * concurrently.
 */
const rotationGraceMs = 10_000
/**
 * A login that waits for its two-factor code expires after this time, not after the configured lifetime of refresh
 * tokens.
 */
const pendingSeconds = 3600

/**
 * The maximum number of complete logins of a user. The same maximum applies to logins that wait for a two-factor code.
 * A new login ends the least recently updated sessions above this number.
 */
const maxSessions = 200

/** The refresh token is the previous one, because a concurrent refresh has already created the next one. */
class AlreadyRotated extends Data.TaggedError("AlreadyRotated")<{ readonly context: SessionContext }> {}

const reusedMessage = "The refresh token was already used, so its session was ended. Log in again."

/** How a session is opened. */
interface OpenedBy {
  readonly method: "password" | "magic_link" | "registration" | "password_change" | "console"
  readonly verifiedAt?: number | undefined
}

interface Loaded {
  readonly snapshot: { readonly value: string; readonly context: SessionContext }
}

// `context` may be cached and outdated. Generations only increase, so a token that is older than the cached
// generation is also older than the stored one.
const tokenState = ({ generation }: RefreshTokenFacts, context: SessionContext, now: number) => {
  if (generation === context.generation) return "current"
  if (generation > context.generation) return "unknown"
  return generation === context.generation - 1 && now - context.rotatedAt <= rotationGraceMs
    ? "predecessor"
    : "reused"
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
    /** Verifies a two-factor code. A correct code completes a pending login, or starts a new grace period. */
    verifyCode(
      refreshToken: string,
      code: string,
    ): Effect.Effect<TokenResponse, Unauthorized | TooManyRequests | Unavailable>
    /**
     * Records that the user of the session has just verified a second factor without `verifyCode`, for example when
     * setting it up.
     */
    proven(sessionId: string): Effect.Effect<void, Unavailable>
    /** Fails unless a second factor was verified within the grace period. */
    checkFresh(sessionId: string): Effect.Effect<void, TwoFactorRequired | Unavailable>
    /**
     * Returns the time when the second factor was last verified in this session, or undefined if it never was. A new
     * session that replaces this one takes over the time.
     */
    findVerifiedAt(sessionId: string): Effect.Effect<number | undefined, Unavailable>
    /** Ends all sessions and access tokens of the user, in all processes. */
    endAll(userId: string, reason: string): Effect.Effect<void, Unavailable>
    /** Publishes events and invalidates caches after a statement that ended the user's sessions. */
    ended(userId: string, ended: Pick<SessionsEnded, "events">): Effect.Effect<void>
  }
>()("directory/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const actors = yield* SessionActors
      const accounts = yield* Accounts
      const callers = yield* CallerCache
      const tokens = yield* Tokens
      const refreshTokens = yield* RefreshTokens
      const factors = yield* SecondFactors
      const limits = yield* RateLimits
      const publisher = yield* Publisher
      const securityLog = yield* SecurityLog
      const turn = yield* makeRefreshReuse

      const renewal = (now: number, admitted: boolean) => ({
        at: now,
        expiresAt: now + (admitted ? config.refreshTokenSeconds : pendingSeconds) * 1000,
      })

      const respond = Effect.fnUntraced(function* (account: Account, context: SessionContext) {
        const { admitted, generation, id } = context
        const [wants] = account.providers
        const response: TokenResponse = {
          access_token: yield* tokens.sign(
            { sub: account.id, sid: id, ep: context.epoch, role: account.role },
            { kind: admitted ? "access" : "pending", ttlSeconds: config.accessTokenSeconds },
          ),
          refresh_token: refreshTokens.make({ sessionId: id, generation }),
          has_password: account.password_hash !== null,
          ...(admitted || wants === undefined ? {} : { requires_2fa: wants }),
        }
        return response
      })

      /** Returns the account of the session. Fails if the session or the account is no longer valid. */
      const accountOf = Effect.fnUntraced(function* ({ snapshot }: Loaded, now: number) {
        const { context, value } = snapshot
        if (value === "Revoked" || value === "Expired" || now >= context.expiresAt) return yield* refused()
        const account = yield* accounts.find({ id: context.userId })
        if (account === undefined || !account.active || account.epoch !== context.epoch) {
          return yield* refused()
        }
        return account
      })

      const read = (refreshToken: string) => {
        const facts = refreshTokens.read(refreshToken)
        return facts === undefined ? Effect.fail(refused()) : Effect.succeed(facts)
      }

      const ended = Effect.fnUntraced(function* (userId: string, { events }: Pick<SessionsEnded, "events">) {
        publisher.moved(events)
        yield* callers.changed(userId)
      })

      const open = Effect.fnUntraced(function* (account: Account, { method, ...facts }: OpenedBy) {
        const sessionId = randomUUID()
        const verifiedAt = facts.verifiedAt ?? null
        const wants = verifiedAt === null ? (account.providers[0] ?? null) : null
        const { snapshot } = yield* turn(
          sessionId,
          (_, now) =>
            Effect.succeed({ type: "OPEN", wants, verifiedAt, ...renewal(now, wants === null) } as const),
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

      const recordReuse = (userId: string, session_id: string) =>
        securityLog.record({
          event: "session.ended",
          userId,
          details: { reason: revokeFamily.reason, session_id },
        })

      const refresh = Effect.fnUntraced(function* (refreshToken: string) {
        const facts = yield* read(refreshToken)
        let account: Account | undefined
        const context = yield* turn(facts.sessionId, (current, now) =>
          Effect.gen(function* () {
            const { context } = current.snapshot
            account = yield* accountOf(current, now)
            switch (tokenState(facts, context, now)) {
              case "current":
                return account.providers.length === 0 && !context.admitted
                  ? ({ type: "ADMIT", ...renewal(now, true) } as const)
                  : ({ type: "ROTATE", ...renewal(now, context.admitted) } as const)
              case "predecessor":
                // The newer token was issued for a correct two-factor code. The holder of the older token has not
                // shown that code.
                if (context.raisedByCode) return yield* refused()
                return yield* new AlreadyRotated({ context })
              case "reused":
                return revokeFamily
              case "unknown":
                return yield* refused()
            }
          }),
        ).pipe(
          Effect.map(({ snapshot }) => (snapshot.value === "Revoked" ? undefined : snapshot.context)),
          Effect.catchTag("AlreadyRotated", (rotated) => Effect.succeed(rotated.context)),
        )
        if (account === undefined) return yield* refused()
        if (context === undefined) {
          yield* recordReuse(account.id, facts.sessionId)
          return yield* refused(reusedMessage)
        }
        return yield* respond(account, context)
      })

      const verifyCode = Effect.fnUntraced(function* (refreshToken: string, code: string) {
        const facts = yield* read(refreshToken)
        const found = yield* actors.find(facts.sessionId)
        if (found === undefined) return yield* refused()
        const { userId } = found.snapshot.context
        yield* limits.take("code", { account: userId })

        const attempt = randomUUID()
        let account: Account | undefined
        let proof: Proof | undefined
        const decide = (current: Loaded, now: number) =>
          Effect.gen(function* () {
            const { context, value } = current.snapshot
            account = yield* accountOf(current, now)
            const state = tokenState(facts, context, now)
            if (state === "unknown") return yield* refused()
            if (state === "reused") return revokeFamily
            if (account.providers.length === 0) {
              return yield* refused(
                "This user has no two-factor authentication. Use POST /auth/token/refresh instead.",
              )
            }
            if (value === "Locked") {
              const waitMs = (context.lockedUntil ?? 0) - now
              if (waitMs <= 0) return { type: "DUE", at: now } as const
              return yield* new TooManyRequests({
                error: "Too many wrong codes. Wait until the lock ends, then enter a new code.",
                retryAfterSeconds: Math.ceil(waitMs / 1000),
                details: { state: "Locked" },
              })
            }
            proof ??= yield* factors.prove(userId, attempt, code)
            if (proof === "spent") return yield* refused("This code was already used. Wait for the next one.")
            return proof === "proven"
              ? ({ type: "VERIFY", ...renewal(now, true) } as const)
              : ({
                  type: "WRONG_CODE",
                  at: now,
                  lockUntil: now + config.twoFactorLockSeconds * 1000,
                } as const)
          })

        let { snapshot } = yield* turn(facts.sessionId, decide)
        // If no code was checked, the first turn only ended an expired lock. Then the second turn checks the code.
        if (proof === undefined && snapshot.value !== "Revoked") {
          snapshot = (yield* turn(facts.sessionId, decide)).snapshot
        }
        if (account === undefined) return yield* refused()
        if (snapshot.value === "Revoked") {
          yield* recordReuse(userId, facts.sessionId)
          return yield* refused(reusedMessage)
        }
        const details = { session_id: facts.sessionId }
        if (proof !== "proven") {
          yield* securityLog.record({ event: "two_factor.failed", userId, details })
          if (snapshot.value === "Locked")
            yield* securityLog.record({ event: "two_factor.locked", userId, details })
          return yield* refused("The code is wrong.")
        }
        yield* limits.forgive("code", userId)
        if (!found.snapshot.context.admitted)
          yield* securityLog.record({
            event: "login.succeeded",
            userId,
            actorId: userId,
            details: { method: "two_factor", ...details },
          })
        return yield* respond(account, snapshot.context)
      })

      return Sessions.of({
        open,
        refresh,
        verifyCode,
        proven: (sessionId) =>
          turn(sessionId, (_, at) => Effect.succeed({ type: "PROVE", at } as const)).pipe(
            Effect.catchTag("Unauthorized", () => Effect.void),
            Effect.asVoid,
          ),
        checkFresh: Effect.fnUntraced(function* (sessionId) {
          const found = yield* actors.find(sessionId)
          const isProven =
            found?.snapshot.value === "Verified" &&
            isFresh(found.snapshot.context, actors.now(), config.twoFactorGraceSeconds * 1000)
          if (!isProven) return yield* new TwoFactorRequired({})
        }),
        findVerifiedAt: (sessionId) =>
          Effect.map(actors.find(sessionId), (found) => found?.snapshot.context.verifiedAt ?? undefined),
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
