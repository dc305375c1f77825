import { Effect, Exit } from "effect"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import { Unauthorized, type Unavailable } from "../../../schema/errors.ts"
import { invalidateAfterUnknownOutcome } from "../../cluster/invalidate-after-unknown-outcome.ts"
import { AppConfig } from "../../config/config.ts"
import { CallerCache } from "../caller-cache.ts"

export const refused = (error = "The refresh token is invalid, used or expired.") =>
  new Unauthorized({ error })

/** What a refresh token brings about that is used a second time. */
export const revokeFamily = { type: "REVOKE", reason: "refresh_token_reused" } as const

const turnFailures = new Set(["NotFound", "EventRefused", "IdsTaken", "LimitReached", "UniqueConflict"])

/** A turn of one session. A session that is gone, or has ended meanwhile, is refused like a bad token. */
export const makeRefreshReuse = Effect.gen(function* () {
  const config = yield* AppConfig
  const actors = yield* SessionActors
  const callers = yield* CallerCache
  type Decide<E> = Parameters<typeof actors.turn<E, never>>[1]

  return <E>(sessionId: string, decide: Decide<E>, options?: Parameters<typeof actors.turn>[2]) => {
    let revokedOf: string | undefined
    const decideAndNote: Decide<E> = (current, now) =>
      Effect.map(decide(current, now), (event) => {
        revokedOf = event === revokeFamily ? current.snapshot.context.userId : undefined
        return event
      })
    // What has no known outcome may have ended it, too.
    const tell = (isKnown: boolean) => {
      if (revokedOf === undefined) return Effect.void
      const changed = callers.changed(revokedOf)
      return isKnown ? changed : invalidateAfterUnknownOutcome(changed, config.statementTimeoutMs)
    }
    return actors.turn(sessionId, decideAndNote, options).pipe(
      Effect.onExit((exit) => tell(Exit.isSuccess(exit))),
      Effect.catchIf(
        (failure): failure is Exclude<typeof failure, E | Unavailable> =>
          turnFailures.has((failure as { readonly _tag: string })._tag),
        (failure) =>
          failure._tag === "NotFound" || failure._tag === "EventRefused"
            ? Effect.fail(refused())
            : Effect.die(failure),
      ),
    )
  }
})
