import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { Sql } from "./sql.ts"

const firstLooks = 3
const tolerance = 2
const ageing = 1.5

/** Time as the database tells it, so that a node with a wrong clock keeps the same deadlines as the others. */
export class DatabaseClock extends Context.Service<DatabaseClock, { now(): number }>()(
  "directory/DatabaseClock",
) {
  static readonly layer = Layer.effect(
    DatabaseClock,
    Effect.gen(function* () {
      const sql = yield* Sql
      let ahead = Date.now() - performance.now()
      let bestTripMs = Number.POSITIVE_INFINITY
      const measure = Effect.gen(function* () {
        const before = performance.now()
        const [row] = yield* sql.rows<{ ms: number }>(
          (q) => q`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
        )
        const after = performance.now()
        // The answer was read somewhere between sending and receiving: the middle is off by half the trip at most. So a
        // quick trip counts for more than a slow one, until it is long ago.
        const tripMs = after - before
        if (row === undefined || tripMs > bestTripMs * tolerance) {
          bestTripMs *= ageing
          return
        }
        bestTripMs = tripMs
        ahead = row.ms - (before + after) / 2
      })
      for (let i = 0; i < firstLooks; i++) yield* measure
      yield* Effect.forkScoped(
        measure.pipe(
          Effect.catchCause((cause) => Effect.logDebug("the database's clock was not seen", cause)),
          Effect.repeat(Schedule.spaced("10 seconds")),
        ),
      )
      return DatabaseClock.of({ now: () => ahead + performance.now() })
    }),
  )
}

/** The same time for those who ask Effect's clock. */
export const makeDatabaseTime = Effect.gen(function* () {
  const database = yield* DatabaseClock
  const machine = yield* Clock.Clock
  return Object.assign(Object.create(machine) as Clock.Clock, {
    currentTimeMillis: Effect.sync(() => database.now()),
    currentTimeMillisUnsafe: () => database.now(),
  })
})
