import { Data, Effect } from "effect"
import type { SessionContext } from "../../../schema/accounts/session-snapshot.ts"
import { currentDevice } from "../../http/request/device.ts"
import type { Account } from "../account-store.ts"
import { makeSessionTokens, tokenState } from "./session-tokens.ts"
import { makeSessionTurn, refused, revokeFamily } from "./session-turn.ts"

/** The refresh token is the previous one, because a concurrent refresh has already created the next one. */
class AlreadyRotated extends Data.TaggedError("AlreadyRotated")<{ readonly context: SessionContext }> {}

/** Creates the function that exchanges a refresh token for new tokens. */
export const makeRefreshSession = Effect.gen(function* () {
  const turn = yield* makeSessionTurn
  const { accountOf, read, refuseReused, renewal, respond } = yield* makeSessionTokens

  return Effect.fnUntraced(function* (refreshToken: string) {
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
    if (context === undefined) return yield* refuseReused(account.id, facts.sessionId)
    return yield* respond(account, context)
  })
})
