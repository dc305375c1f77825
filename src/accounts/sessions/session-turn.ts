import { Effect } from "effect"
import type { TurnOptions, WrapCommit } from "../../../actors/host.ts"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import type { sessionMachine } from "../../../machines/accounts/two-factor-session.ts"
import { Unauthorized, type Unavailable } from "../../../schema/errors.ts"
import { CallerCache } from "../caller-cache.ts"

export const refused = (error = "The refresh token is invalid, expired or already used. Sign in again.") =>
  new Unauthorized({ error })

/**
 * The event that ends a session because one of its refresh tokens was used a second time. All its refresh tokens
 * become invalid.
 */
export const revokeFamily = { type: "REVOKE", reason: "refresh_token_reused" } as const

const turnFailures = new Set(["NotFound", "EventRefused", "IdsTaken", "LimitReached", "UniqueConflict"])

/**
 * Creates the function that runs a turn of a session. If the session does not exist or has ended, it fails with the
 * same error as for an invalid token. If the turn revokes the session, its user is removed from all caches, so that the
 * access tokens of the session no longer work in any process.
 */
export const makeSessionTurn = Effect.gen(function* () {
  const actors = yield* SessionActors
  const callers = yield* CallerCache
  type Decide<E> = Parameters<typeof actors.turn<E, never>>[1]

  return <E, T = undefined>(
    sessionId: string,
    decide: Decide<E>,
    options?: TurnOptions<typeof sessionMachine, T>,
  ) => {
    let revokedUserId: string | undefined
    const decideAndNote: Decide<E> = (current, now) =>
      Effect.map(decide(current, now), (event) => {
        revokedUserId = event.type === "REVOKE" ? current.snapshot.context.userId : undefined
        return event
      })
    const within = (): WrapCommit =>
      revokedUserId === undefined ? (commit) => commit : callers.invalidating(revokedUserId)
    return actors.turn(sessionId, decideAndNote, { ...options, within }).pipe(
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
