import { Data, Effect } from "effect"
import { unchanged } from "../../../actors/operation.ts"
import { currentDevice } from "../../http/request/device.ts"
import { refuseLate } from "../../postgres/request-time.ts"
import { type Issued, makeSessionTokens, tokenState } from "./session-tokens.ts"
import { makeSessionTurn, refused, revokeFamily } from "./session-turn.ts"

/** The outcome of a refresh: new tokens, or that the session was ended because its token had been used before. */
export type Refreshed =
  | Issued
  | { readonly reused: true; readonly userId: string; readonly sessionId: string }

/** The refresh token is the previous one, because a concurrent refresh has already created the next one. */
class AlreadyRotated extends Data.TaggedError("AlreadyRotated")<{ readonly issued: Issued }> {}

/** Creates the functions that exchange a refresh token for new tokens. */
export const makeRefreshSession = Effect.gen(function* () {
  const turn = yield* makeSessionTurn
  const { accountOf, issue, issued, read, refuseReused, renewal } = yield* makeSessionTokens

  const refresh = Effect.fnUntraced(function* (refreshToken: string) {
    const device = yield* currentDevice
    const facts = yield* read(refreshToken)
    let outcome: Refreshed | undefined
    return yield* turn(
      facts.sessionId,
      (current, now) =>
        Effect.gen(function* () {
          const { context } = current.snapshot
          const account = yield* accountOf(current, now)
          switch (tokenState(facts, context, now)) {
            case "current": {
              const isFree = account.providers.length === 0
              const admitted = isFree || context.admitted
              outcome = yield* issue(account, { ...context, admitted, generation: context.generation + 1 })
              return isFree
                ? ({ type: "ADMIT", ...renewal(now, true, device) } as const)
                : ({ type: "ROTATE", ...renewal(now, admitted, device) } as const)
            }
            case "predecessor":
              // The newer token was issued for a correct two-factor code. The holder of the older token has not
              // shown that code.
              if (context.raisedByCode) return yield* refused()
              return yield* new AlreadyRotated({ issued: yield* issue(account, context) })
            case "reused":
              // A delayed request may be older than the refreshes after it, so it is no sign of a stolen token.
              yield* refuseLate
              outcome = { reused: true, userId: account.id, sessionId: facts.sessionId }
              return revokeFamily
            case "unknown":
              return yield* refused()
          }
        }),
      { outcome: () => outcome! },
    ).pipe(
      Effect.map(({ written }) => written),
      Effect.catchTag("AlreadyRotated", (rotated) => Effect.succeed(unchanged<Refreshed>(rotated.issued))),
    )
  })

  /** Returns the new tokens after the commit. */
  const refreshed = (outcome: Refreshed) =>
    "reused" in outcome ? refuseReused(outcome.userId, outcome.sessionId) : issued(outcome)

  return { refresh, refreshed }
})
