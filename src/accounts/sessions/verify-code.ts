import { Data, Effect } from "effect"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { currentDevice } from "../../http/request/device.ts"
import { refuseLate } from "../../postgres/request-time.ts"
import { attemptId } from "../../turns/operation-key.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { codesLocked, SecondFactors } from "../two-factor/second-factors.ts"
import type { Proof } from "../two-factor/two-factor-store.ts"
import { type Issued, makeSessionTokens, tokenState } from "./session-tokens.ts"
import { makeSessionTurn, refused, revokeFamily } from "./session-turn.ts"

interface OfSession {
  readonly userId: string
  readonly sessionId: string
}
interface Accepted extends Issued, OfSession {
  /** Whether the code completed a login. */
  readonly completes: boolean
}
/** The outcome of a code: new tokens, or why the code was refused although the session has changed. */
export type CodeVerified = Accepted | (OfSession & { readonly refusal: "reused" | "wrong" })

/** The code was not checked, because the account is locked. The session does not show the lock yet. */
class LockUnknown extends Data.TaggedError("LockUnknown")<{ readonly until: number }> {}

const wrongCode = "The code is wrong."

/** Creates the functions that verify the two-factor code of a session. */
export const makeVerifyCode = Effect.gen(function* () {
  const actors = yield* SessionActors
  const factors = yield* SecondFactors
  const limits = yield* RateLimits
  const securityLog = yield* SecurityLog
  const turn = yield* makeSessionTurn
  const { accountOf, issue, issued, read, refuseReused, renewal } = yield* makeSessionTokens

  const verifyCode = Effect.fnUntraced(function* (
    refreshToken: string,
    code: string,
    { repeatsSetup } = { repeatsSetup: false },
  ) {
    const device = yield* currentDevice
    const facts = yield* read(refreshToken)
    const found = yield* actors.find(facts.sessionId)
    if (found === undefined) return yield* refused()
    const { sessionId } = facts
    const { admitted: wasAdmitted, userId } = found.snapshot.context
    yield* limits.take("code", { account: userId })

    const attempt = yield* attemptId(refreshToken, code)
    const details = { session_id: sessionId }
    const recordWrong = Effect.fnUntraced(function* ({ locked_until, proof }: Proof) {
      if (proof !== "wrong") return
      yield* securityLog.record({ event: "two_factor.failed", userId, details })
      if (locked_until !== null) yield* securityLog.record({ event: "two_factor.locked", userId, details })
    })
    let checked: Proof | undefined
    let outcome: CodeVerified | undefined
    return yield* turn(
      sessionId,
      (current, now) =>
        Effect.gen(function* () {
          const { context, value } = current.snapshot
          const account = yield* accountOf(current, now)
          const state = tokenState(facts, context, now)
          if (state === "unknown") return yield* refused()
          if (state === "reused") {
            // A delayed request may be older than the refreshes after it, so it is no sign of a stolen token.
            yield* refuseLate
            outcome = { refusal: "reused", userId, sessionId }
            return revokeFamily
          }
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
          if (proof === "proven") {
            const verified = { ...context, admitted: true, generation: context.generation + 1 }
            outcome = { ...(yield* issue(account, verified)), sessionId, completes: !wasAdmitted }
            return { type: "VERIFY", ...renewal(now, true, device) } as const
          }
          if (proof === "spent") return yield* refused("This code was already used. Wait for the next one.")
          if (locked_until === null) return yield* refused(wrongCode)
          if (value === "Locked" && context.lockedUntil === locked_until)
            return yield* codesLocked(locked_until, now)
          if (proof === "locked") return yield* new LockUnknown({ until: locked_until })
          outcome = { refusal: "wrong", userId, sessionId }
          return { type: "LOCK", until: locked_until } as const
        }),
      { outcome: () => outcome! },
    ).pipe(
      Effect.map(({ written }) => written),
      // This turn does not complete the request: a retry after the lock checks the code.
      Effect.catchTag("LockUnknown", ({ until }) =>
        Effect.andThen(
          turn(sessionId, () => Effect.succeed({ type: "LOCK", until } as const)),
          Effect.fail(codesLocked(until, actors.now())),
        ),
      ),
    )
  })

  /** Returns the new tokens after the commit. */
  const codeVerified = Effect.fnUntraced(function* (outcome: CodeVerified) {
    const { sessionId, userId } = outcome
    if ("refusal" in outcome)
      return yield* outcome.refusal === "reused" ? refuseReused(userId, sessionId) : refused(wrongCode)
    yield* limits.forgive("code", { account: userId })
    if (outcome.completes)
      yield* securityLog.record({
        event: "login.succeeded",
        userId,
        actorId: userId,
        details: { method: "two_factor", session_id: sessionId },
      })
    return yield* issued(outcome)
  })

  return { verifyCode, codeVerified }
})
