import { Duration, Effect, Latch } from "effect"
import type { FollowedDatabase, Search } from "./followed-database.ts"
import type { OpenServer } from "./primary-search.ts"

/** The interval of searches. It limits how long a process uses a former primary that is still running. */
const everyMs = 5000
/** The pause between searches while no primary is found, or while statements fail. */
const pauseMs = 300

const nameOf = (search: Search): string => ("server" in search ? search.server.name : "none")

/**
 * Searches the primary at intervals, and immediately when `suspect` is called. Does nothing if the database needs no
 * primary. The fiber ends with the scope.
 */
export const watchPrimary = Effect.fnUntraced(function* (
  database: FollowedDatabase | undefined,
  open: OpenServer,
) {
  const wanted = yield* Latch.make()
  if (database?.needsPrimary) {
    let last = database.current.name
    const search = Effect.gen(function* () {
      yield* wanted.close
      const found = yield* Effect.promise(() => database.search(open))
      const name = nameOf(found)
      if (name !== last) {
        last = name
        yield* "server" in found
          ? Effect.logWarning("the postgres primary has changed", {
              server: name,
              timeline: found.history?.timeline,
            })
          : Effect.logError("no postgres primary was found", { servers: found.reasons })
      }
      yield* Effect.sleep(Duration.millis(pauseMs))
      if ("server" in found) yield* Effect.timeoutOption(wanted.await, Duration.millis(everyMs - pauseMs))
    }).pipe(Effect.catchCause((cause) => Effect.logError("the search for the primary failed", cause)))
    yield* Effect.forkScoped(Effect.forever(search))
  }
  return { suspect: (): void => void wanted.openUnsafe() }
})
