import { Effect } from "effect"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import { isFresh } from "../../../machines/accounts/two-factor-session.ts"
import { TwoFactorRequired } from "../../../schema/errors.ts"
import { AppConfig } from "../../config/config.ts"
import { makeSessionStore } from "./session-store.ts"
import { makeSessionTurn } from "./session-turn.ts"

const notifyConcurrency = 16

/** Creates the functions that record in sessions, and read from them, whether a second factor was verified. */
export const makeVerifiedFactors = Effect.gen(function* () {
  const config = yield* AppConfig
  const actors = yield* SessionActors
  const store = yield* makeSessionStore
  const turn = yield* makeSessionTurn

  /** Runs a turn that does nothing if the session has ended or its state does not accept the event. */
  const notify = (sessionId: string, event: Parameters<typeof actors.send>[1]) =>
    turn(sessionId, () => Effect.succeed(event)).pipe(
      Effect.catchTag("Unauthorized", () => Effect.void),
      Effect.asVoid,
    )

  const proven = (sessionId: string) => notify(sessionId, { type: "PROVE", at: actors.now() })

  const notifyAll = Effect.fnUntraced(function* (userId: string, event: Parameters<typeof actors.send>[1]) {
    const found = yield* store.list(userId)
    yield* Effect.forEach(found, ({ id }) => notify(id, event), {
      concurrency: notifyConcurrency,
      discard: true,
    })
  })

  return {
    proven,
    factorEnabled: Effect.fnUntraced(function* (userId: string, sessionId: string) {
      yield* proven(sessionId)
      yield* notifyAll(userId, { type: "FACTOR_ENABLED" })
    }),
    factorsDisabled: (userId: string) => notifyAll(userId, { type: "FACTOR_DISABLED" }),
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
