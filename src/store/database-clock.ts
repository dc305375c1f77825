import { Context, Effect, Layer, Schedule } from "effect"
import { Sql } from "./sql.ts"

/** Time as the database tells it, so that a node with a wrong clock keeps the same deadlines as the others. */
export class DatabaseClock extends Context.Service<DatabaseClock, { now(): number }>()(
  "directory/DatabaseClock",
) {
  static readonly layer = Layer.effect(
    DatabaseClock,
    Effect.gen(function* () {
      const sql = yield* Sql
      let ahead = Date.now() - performance.now()
      const measure = Effect.gen(function* () {
        const before = performance.now()
        const [row] = yield* sql.rows<{ ms: number }>(
          (q) => q`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
        )
        // The answer was read somewhere between sending and receiving: the middle is off by half the trip at most.
        if (row !== undefined) ahead = row.ms - (before + performance.now()) / 2
      })
      yield* measure
      yield* Effect.forkScoped(measure.pipe(Effect.ignore, Effect.repeat(Schedule.spaced("10 seconds"))))
      return DatabaseClock.of({ now: () => ahead + performance.now() })
    }),
  )
}
