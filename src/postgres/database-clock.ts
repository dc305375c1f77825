import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { Sql } from "./sql.ts"

const firstMeasurements = 3
const tolerance = 2
const ageing = 1.5

/**
 * The time of the database. All processes use it for deadlines, so deadlines are the same even if the clock of a
 * machine is wrong.
 */
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
        // The database read its clock between `before` and `after`, so the middle of both is wrong by at most half
        // the round trip. A measurement with a slow round trip is ignored. Each ignored one raises `bestTripMs`, so
        // that an old measurement is replaced after some time.
        const tripMs = after - before
        if (row === undefined || tripMs > bestTripMs * tolerance) {
          bestTripMs *= ageing
          return
        }
        bestTripMs = tripMs
        ahead = row.ms - (before + after) / 2
      })
      for (let i = 0; i < firstMeasurements; i++) yield* measure
      yield* Effect.forkScoped(
        measure.pipe(
          Effect.catchCause((cause) => Effect.logDebug("database clock not read", cause)),
          Effect.repeat(Schedule.spaced("10 seconds")),
        ),
      )
      return DatabaseClock.of({ now: () => ahead + performance.now() })
    }),
  )
}

/** An Effect clock that returns the time of the database. */
export const makeDatabaseTime = Effect.gen(function* () {
  const database = yield* DatabaseClock
  const machine = yield* Clock.Clock
  return Object.assign(Object.create(machine) as Clock.Clock, {
    currentTimeMillis: Effect.sync(() => database.now()),
    currentTimeMillisUnsafe: () => database.now(),
  })
})
