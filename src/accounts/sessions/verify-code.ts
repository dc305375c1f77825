import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { currentDevice } from "../../http/request/device.ts"
import type { Account } from "../account-store.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { codesLocked, SecondFactors } from "../two-factor/second-factors.ts"
import type { Proof } from "../two-factor/two-factor-store.ts"
import { makeSessionTokens, tokenState } from "./session-tokens.ts"
import { makeSessionTurn, refused, revokeFamily } from "./session-turn.ts"

const wrongCode = "The code is wrong."

/** Creates the function that verifies the two-factor code of a session. */
export const makeVerifyCode = Effect.gen(function* () {
  const actors = yield* SessionActors
  const factors = yield* SecondFactors
  const limits = yield* RateLimits
  const securityLog = yield* SecurityLog
  const turn = yield* makeSessionTurn
  const { accountOf, read, refuseReused, renewal, respond } = yield* makeSessionTokens

  return Effect.fnUntraced(function* (
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
      if (locked_until !== null) yield* securityLog.record({ event: "two_factor.locked", userId, details })
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
    if (snapshot.value === "Revoked") return yield* refuseReused(userId, facts.sessionId)
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
})
