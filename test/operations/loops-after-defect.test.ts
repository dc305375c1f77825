import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { expect, it } from "vitest"
import { AppConfig } from "../../src/config/read-config.ts"
import { ViewCounter } from "../../src/directory/lookup/view-counter.ts"
import { OversizedChannels } from "../../src/live/oversized-channels.ts"
import { retention } from "../../src/live/retention.ts"
import { deleteExpiredRows } from "../../src/operations/housekeeping.ts"
import { DatabaseClock } from "../../src/postgres/database-clock.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { Events } from "../../src/turns/event-store.ts"
import { testConfig } from "../fixtures/service.ts"

/** Renders a statement, or an identifier in a statement, as text. */
const text = ((first: TemplateStringsArray | string | ReadonlyArray<string>, ...values: Array<unknown>) =>
  typeof first === "object" && "raw" in first ? String.raw(first, ...values) : String(first)) as never

/**
 * A database that fails once: execution number `wrongAt` of the statement that contains `word` fails with an unexpected
 * error (in Effect, a defect). `seen.times` counts the executions of that statement.
 */
const databaseWithDefect = (word: string, wrongAt: number) => {
  const seen = { times: 0 }
  const rows: (typeof Sql)["Service"]["rows"] = (statement) =>
    Effect.suspend(() => {
      if (!String(statement(text)).includes(word)) return Effect.succeed([])
      return ++seen.times === wrongAt
        ? Effect.die(new Error("the certificate has expired"))
        : Effect.succeed([{ ms: 0, trimmed: 0 } as never])
    })
  return { seen, layer: Layer.succeed(Sql, { rows } as (typeof Sql)["Service"]) }
}

/** Runs `first`, lets the test clock advance by one hour, and returns how often the statement was executed. */
const countInHour = <R>(
  seen: { readonly times: number },
  layer: Layer.Layer<R>,
  first: Effect.Effect<void, never, R>,
) =>
  Effect.runPromise(
    Effect.andThen(first, TestClock.adjust("1 hour")).pipe(
      Effect.map(() => seen.times),
      Effect.provide(layer),
      Effect.provide(Layer.fresh(TestClock.layer())),
    ),
  )

it("the service continues to write views after an unexpected error of one write", async () => {
  const { layer, seen } = databaseWithDefect("put_views", 1)
  const times = await countInHour(
    seen,
    ViewCounter.layer.pipe(Layer.provide(layer)),
    ViewCounter.use((views) => Effect.sync(() => views.add("🚀", 1))),
  )
  expect(times).toBe(2)
})

it("housekeeping deletes the rows of the other tables after an unexpected error of one deletion", async () => {
  const { layer, seen } = databaseWithDefect("delete from", 1)
  const surroundings = Layer.merge(layer, Layer.succeed(AppConfig, testConfig()))
  await Effect.runPromise(deleteExpiredRows.pipe(Effect.provide(surroundings)))
  expect(seen.times).toBeGreaterThan(15)
})

it("the service continues to delete old events after an unexpected error of one deletion", async () => {
  const { layer, seen } = databaseWithDefect("trim_old_events", 1)
  const surroundings = Layer.mergeAll(Events.layer, OversizedChannels.layer).pipe(
    Layer.provideMerge(Layer.merge(layer, Layer.succeed(AppConfig, testConfig()))),
  )
  const times = await countInHour(seen, retention.pipe(Layer.provide(surroundings)), Effect.void)
  expect(times).toBeGreaterThan(30)
})

it("the service continues to read the database's clock after an unexpected error of one read", async () => {
  const { layer, seen } = databaseWithDefect("clock_timestamp", 5)
  const times = await countInHour(
    seen,
    DatabaseClock.layer.pipe(Layer.provide(layer), Layer.orDie),
    Effect.void,
  )
  expect(times).toBeGreaterThan(100)
})
