import { Data, Effect } from "effect"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import { isFresh } from "../../../machines/accounts/two-factor-session.ts"
import type { SessionContext } from "../../../schema/accounts/session-snapshot.ts"
import { TwoFactorRequired } from "../../../schema/errors.ts"
import { AppConfig } from "../../config/read-config.ts"
import { makeSessionStore } from "./session-store.ts"
import { makeSessionTurn } from "./session-turn.ts"

const notifyConcurrency = 16

/** The session already shows what it is told, for example because a retry of a request tells it again. */
class AlreadyKnown extends Data.TaggedError("AlreadyKnown") {}

/** Whether the session shows that its user has no second factor. */
const isReleased = ({ admitted, lockedUntil, stale, verifiedAt }: SessionContext): boolean =>
  admitted && lockedUntil === null && stale == null && verifiedAt === null

/** Creates the functions that record in sessions, and read from them, whether a second factor was verified. */
export const makeVerifiedFactors = Effect.gen(function* () {
  const config = yield* AppConfig
  const actors = yield* SessionActors
  const store = yield* makeSessionStore
  const turn = yield* makeSessionTurn

  type Event = Parameters<typeof actors.send>[1]
  type IsKnown = (context: SessionContext) => boolean

  /**
   * Runs a turn that does nothing if the session has ended, if its state does not accept the event, or if it already
   * shows it.
   */
  const notify = (sessionId: string, event: Event, isKnown: IsKnown = () => false) =>
    turn(sessionId, ({ snapshot }) =>
      isKnown(snapshot.context) ? Effect.fail(new AlreadyKnown()) : Effect.succeed(event),
    ).pipe(
      Effect.catchTags({ AlreadyKnown: () => Effect.void, Unauthorized: () => Effect.void }),
      Effect.asVoid,
    )

  const proven = (sessionId: string, at = actors.now()) =>
    notify(sessionId, { type: "PROVE", at }, ({ verifiedAt }) => verifiedAt !== null && verifiedAt >= at)

  const notifyAll = Effect.fnUntraced(function* (userId: string, event: Event, isKnown?: IsKnown) {
    const found = yield* store.list(userId)
    yield* Effect.forEach(found, ({ id }) => notify(id, event, isKnown), {
      concurrency: notifyConcurrency,
      discard: true,
    })
  })

  return {
    proven,
    factorEnabled: Effect.fnUntraced(function* (userId: string, sessionId: string, at: number) {
      yield* proven(sessionId, at)
      yield* notifyAll(userId, { type: "FACTOR_ENABLED" })
    }),
    factorsDisabled: (userId: string) => notifyAll(userId, { type: "FACTOR_DISABLED" }, isReleased),
    locked: (sessionId: string, until: number) => notify(sessionId, { type: "LOCK", until }),
    checkFresh: Effect.fnUntraced(function* (sessionId: string) {
      const found = yield* actors.find(sessionId)
      const isProven =
        (found?.snapshot.value === "Verified" || found?.snapshot.value === "Locked") &&
        isFresh(found.snapshot.context, actors.now(), config.twoFactorGraceSeconds * 1000)
      if (!isProven) return yield* new TwoFactorRequired({})
    }),
    findVerifiedAt: (sessionId: string) =>
      Effect.map(actors.find(sessionId), (found) => found?.snapshot.context.verifiedAt ?? undefined),
  }
})
