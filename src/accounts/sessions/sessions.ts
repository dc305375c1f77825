import { randomUUID } from "node:crypto"
import { Context, Data, Effect, Layer } from "effect"
import { Publisher } from "../../../actors/ports.ts"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import { isFresh } from "../../../machines/accounts/two-factor-session.ts"
import type { DisplaySession, TokenResponse } from "../../../schema/accounts/session.ts"
import type { SessionContext } from "../../../schema/accounts/session-snapshot.ts"
import {
  NotFound,
  type TooManyRequests,
  TwoFactorRequired,
  type Unauthorized,
  type Unavailable,
} from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import { AppConfig } from "../../config/config.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { currentDevice, type Device } from "../../http/request/device.ts"
import { type Account, Accounts, type SessionsEnded } from "../account-store.ts"
import { CallerCache } from "../caller-cache.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { codesLocked, SecondFactors } from "../two-factor/second-factors.ts"
import type { Proof } from "../two-factor/two-factor-store.ts"
import { makeRefreshReuse, refused, revokeFamily } from "./refresh-reuse.ts"
import { type RefreshTokenFacts, RefreshTokens } from "./refresh-tokens.ts"
import { makeSessionStore } from "./session-store.ts"
import { SessionUses } from "./session-uses.ts"
import { Tokens } from "./tokens.ts"

/**
 * After a refresh, the previous refresh token stays valid until the new one is first used, but at most for this time.
 * A client may refresh several times concurrently, and a client whose response was lost must try again. Using the new
 * token creates the next generation, so that the previous token is then two generations old.
 */
const rotationGraceMs = 60_000
/** A login that waits for its two-factor code expires after this time, which is shorter than for a complete login. */
const pendingSeconds = 3600

/**
 * The maximum number of complete logins of a user. The same maximum applies to logins that wait for a two-factor code.
 * A new login ends the least recently updated sessions above this number.
 */
const maxSessions = 200
const notifyConcurrency = 16

/** The refresh token is the previous one, because a concurrent refresh has already created the next one. */
class AlreadyRotated extends Data.TaggedError("AlreadyRotated")<{ readonly context: SessionContext }> {}

const wrongCode = "The code is wrong."
const reusedMessage = "The refresh token was already used, so its session was ended. Log in again."

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
      const store = yield* makeSessionStore
      const uses = yield* SessionUses
      const turn = yield* makeRefreshReuse

      const renewal = (now: number, admitted: boolean, device: Device) => ({
        at: now,
        expiresAt: now + (admitted ? config.refreshTokenSeconds : pendingSeconds) * 1000,
        device,
      })

      /**
       * Records the time when the user's clients ask the user to enable two-factor authentication, at most once in 30
       * days. The tokens are issued even if this fails; the next refresh tries again.
       */
      const recordPrompt = ({ id, prompt_is_due, providers }: Account) =>
        prompt_is_due && providers.length === 0
          ? accounts.recordPrompt(id).pipe(
              Effect.andThen(publisher.accountsChanged([id])),
              Effect.catch((failure) => Effect.logWarning("two-factor prompt not recorded", failure)),
            )
          : Effect.void

      const respond = Effect.fnUntraced(function* (account: Account, context: SessionContext) {
        const { admitted, generation, id } = context
        yield* recordPrompt(account)
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

      const recordReuse = (userId: string, session_id: string) =>
        securityLog.record({
          event: "session.ended",
          userId,
          details: { reason: revokeFamily.reason, session_id },
        })

      const refresh = Effect.fnUntraced(function* (refreshToken: string) {
        const device = yield* currentDevice
        const facts = yield* read(refreshToken)
        let account: Account | undefined
        const context = yield* turn(facts.sessionId, (current, now) =>
          Effect.gen(function* () {
            const { context } = current.snapshot
            account = yield* accountOf(current, now)
            switch (tokenState(facts, context, now)) {
              case "current":
                return account.providers.length === 0
                  ? ({ type: "ADMIT", ...renewal(now, true, device) } as const)
                  : ({ type: "ROTATE", ...renewal(now, context.admitted, device) } as const)
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

      const verifyCode = Effect.fnUntraced(function* (
        refreshToken: string,
        code: string,
        { repeatsSetup } = { repeatsSetup: false },
      ) {
        const device = yield* currentDevice
        const facts = yield* read(refreshToken)
        const found = yield* actors.find(facts.sessionId)
        if (found === undefined) return yield* refused()
        const { userId } = found.snapshot.context
        yield* limits.take("code", { account: userId })

        const attempt = randomUUID()
        const details = { session_id: facts.sessionId }
        const recordWrong = Effect.fnUntraced(function* ({ locked_until, proof }: Proof) {
          if (proof !== "wrong") return
          yield* securityLog.record({ event: "two_factor.failed", userId, details })
          if (locked_until !== null)
            yield* securityLog.record({ event: "two_factor.locked", userId, details })
        })
        let account: Account | undefined
        let checked: Proof | undefined
        const { snapshot } = yield* turn(facts.sessionId, (current, now) =>
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
            checked ??= yield* Effect.tap(
              factors.prove(userId, attempt, code, { forLogin: repeatsSetup }),
              recordWrong,
            )
            const { locked_until, proof } = checked
            if (proof === "proven") return { type: "VERIFY", ...renewal(now, true, device) } as const
            if (proof === "spent") return yield* refused("This code was already used. Wait for the next one.")
            if (locked_until === null) return yield* refused(wrongCode)
            if (value === "Locked" && context.lockedUntil === locked_until)
              return yield* codesLocked(locked_until, now)
            return { type: "LOCK", until: locked_until } as const
          }),
        )
        if (account === undefined) return yield* refused()
        if (snapshot.value === "Revoked") {
          yield* recordReuse(userId, facts.sessionId)
          return yield* refused(reusedMessage)
        }
        if (checked === undefined) return yield* refused()
        if (checked.proof === "locked") return yield* codesLocked(checked.locked_until ?? 0, actors.now())
        if (checked.proof !== "proven") return yield* refused(wrongCode)
        yield* limits.forgive("code", { account: userId })
        if (!found.snapshot.context.admitted)
          yield* securityLog.record({
            event: "login.succeeded",
            userId,
            actorId: userId,
            details: { method: "two_factor", ...details },
          })
        return yield* respond(account, snapshot.context)
      })

      /** Runs a turn that does nothing if the session has ended or its state does not accept the event. */
      const notify = (sessionId: string, event: Parameters<typeof actors.send>[1]) =>
        turn(sessionId, () => Effect.succeed(event)).pipe(
          Effect.catchTag("Unauthorized", () => Effect.void),
          Effect.asVoid,
        )

      const proven = (sessionId: string) => notify(sessionId, { type: "PROVE", at: actors.now() })

      const notifyAll = Effect.fnUntraced(function* (
        userId: string,
        event: Parameters<typeof actors.send>[1],
      ) {
        const found = yield* store.list(userId)
        yield* Effect.forEach(found, ({ id }) => notify(id, event), {
          concurrency: notifyConcurrency,
          discard: true,
        })
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
        refresh,
        verifyCode,
        proven,
        factorEnabled: Effect.fnUntraced(function* (userId, sessionId) {
          yield* proven(sessionId)
          yield* notifyAll(userId, { type: "FACTOR_ENABLED" })
        }),
        factorsDisabled: (userId) => notifyAll(userId, { type: "FACTOR_DISABLED" }),
        locked: (sessionId, until) => notify(sessionId, { type: "LOCK", until }),
        list,
        endOne,
        checkFresh: Effect.fnUntraced(function* (sessionId) {
          const found = yield* actors.find(sessionId)
          const isProven =
            (found?.snapshot.value === "Verified" || found?.snapshot.value === "Locked") &&
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
