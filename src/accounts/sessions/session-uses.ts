import { Context, Effect, Layer, Schedule } from "effect"
import { writeAtShutdown } from "../../postgres/write-at-shutdown.ts"
import { makeSessionStore } from "./session-store.ts"

const interval = "1 minute"
/** The maximum number of sessions in one statement. */
const batchSize = 1000
/** Above this number of sessions in a minute, the use of further ones is not recorded. */
const capacity = 200_000

/**
 * Records when sessions were last used. A request only adds its session to a set in memory. The set is written once a
 * minute, so a session that is used all the time costs one row per minute and process.
 */
export class SessionUses extends Context.Service<
  SessionUses,
  {
    note(sessionId: string): void
    /** Whether the session was used in this process after the last write. */
    isNoted(sessionId: string): boolean
  }
>()("directory/SessionUses") {
  static readonly layer = Layer.effect(
    SessionUses,
    Effect.gen(function* () {
      const store = yield* makeSessionStore
      let used = new Set<string>()

      const write = Effect.gen(function* () {
        const ids = [...used]
        used = new Set()
        for (let i = 0; i < ids.length; i += batchSize) yield* store.recordUses(ids.slice(i, i + batchSize))
      }).pipe(Effect.catchCause((cause) => Effect.logWarning("last use of sessions not recorded", cause)))

      yield* writeAtShutdown(write)
      yield* write.pipe(Effect.repeat(Schedule.spaced(interval)), Effect.delay(interval), Effect.forkScoped)

      return SessionUses.of({
        note: (sessionId) => {
          if (used.size < capacity) used.add(sessionId)
        },
        isNoted: (sessionId) => used.has(sessionId),
      })
    }),
  )
}
