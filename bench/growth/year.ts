import { Effect, Layer, ManagedRuntime } from "effect"
import type { Sql as Client } from "postgres"
import { AppConfig, readConfig } from "../../src/config/read-config.ts"
import { pruneChannels, pruneEvents } from "../../src/live/retention.ts"
import { deleteExpiredRows } from "../../src/operations/housekeeping.ts"
import { makeCleanupStore } from "../../src/orders/cleanup-store.ts"
import { connect } from "../../src/postgres/client.ts"
import { startEmbeddedPostgres } from "../../src/postgres/embedded/embedded.ts"
import { prepareDatabase } from "../../src/postgres/schema/prepare-database.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { Events } from "../../src/turns/event-store.ts"
import { BenchFailure } from "../failure.ts"
import { makeDirectory, removeDirectory } from "../process/directory.ts"
import { type TableSize, tableSizes } from "./measure.ts"
import { dailyTraffic, prepared } from "./traffic.ts"

const days = 365
const settledSeconds = 600
const statementTimeoutMs = 600_000
const eventsToDelete = 500_000
/** Autovacuum works in real time, and a day of the simulation takes a second. So the simulation vacuums. */
const vacuumDays = 2
const ordersPerPart = 500

/**
 * Statements find this `now()` before the one of Postgres, because of the search path. So the deletions of the service run in
 * the simulated time without a change.
 */
const simulatedClock = `
  create schema bench;
  create table bench.clock (at timestamptz not null);
  insert into bench.clock values (pg_catalog.now());
  create function bench.now() returns timestamptz language sql stable as 'select at from bench.clock'`
const searchPath = "bench, pg_catalog, public"

const tables = [
  ...[
    "emoji_id_view",
    "event",
    "channel",
    "idempotency_key",
    "rate_window",
    "outbox",
    "security_log",
    "magic_link",
  ],
  ...["session_use", "entity", "purged_order", "journal", "ledger_line"],
]

const readSettings = () => {
  const read = readConfig({})
  if ("problems" in read) throw new BenchFailure(read.problems.join("; "))
  return read.config
}

/** Deletes the cancelled orders whose retention has ended, as the clean-up of the service does without payment intents. */
const purgeOrders = Effect.gen(function* () {
  const store = yield* makeCleanupStore
  const { cancelledOrderKeepDays, trackingKeepDays } = yield* AppConfig
  for (;;) {
    const limits = {
      maxOrders: ordersPerPart,
      keepOrderDays: cancelledOrderKeepDays,
      keepTrackingDays: trackingKeepDays,
    }
    const part = yield* store.nextPart(limits)
    if (part === undefined) return
    if (part.old.length > 0) yield* store.purge(part.old)
    if (part.until === null) return
  }
})

const pruneAll = Effect.gen(function* () {
  yield* deleteExpiredRows
  yield* purgeOrders
  yield* pruneEvents([])
  yield* pruneChannels(settledSeconds)
})

type Prune = (effect: typeof pruneAll) => Promise<void>

const withDatabase = async <A>(use: (sql: Client, prune: Prune) => Promise<A>): Promise<A> => {
  const directory = await makeDirectory()
  const server = await startEmbeddedPostgres({
    dataDir: `${directory}/postgres`,
    flags: ["-c", "synchronous_commit=off"],
  })
  const address = { socketDir: server.socketDir, port: server.port, database: "postgres" }
  try {
    await prepareDatabase(address, statementTimeoutMs)
    const options = { connection: address, poolSize: 2, statementTimeoutMs }
    const setup = connect(options)
    await setup.unsafe(simulatedClock)
    await setup.end()
    const inSimulatedTime = { ...options, client: { connection: { search_path: searchPath } } }
    const sql = connect(inSimulatedTime)
    const runtime = ManagedRuntime.make(
      Events.layer.pipe(
        Layer.provideMerge(Layer.merge(Sql.layer(inSimulatedTime), Layer.succeed(AppConfig, readSettings()))),
      ),
    )
    try {
      return await use(sql, (effect) => runtime.runPromise(effect))
    } finally {
      await runtime.dispose()
      await sql.end()
    }
  } finally {
    await server.stop()
    await removeDirectory(directory)
  }
}

const simulate = (isPruned: boolean, onStep: (step: string) => void): Promise<ReadonlyArray<TableSize>> =>
  withDatabase(async (sql, prune) => {
    await sql.unsafe(prepared)
    for (let day = 1; day <= days; day++) {
      if (day % 30 === 1) onStep(`${isPruned ? "with" : "without"} pruning: day ${day} of ${days}`)
      for (const traffic of dailyTraffic) await sql.unsafe(traffic.sql, [day, traffic.rows])
      await sql`update bench.clock set at = at + interval '1 day'`
      if (isPruned) await prune(pruneAll)
      if (isPruned && day % vacuumDays === 0) for (const table of tables) await sql.unsafe(`vacuum ${table}`)
    }
    return tableSizes(sql, tables)
  })

/** Returns how many expired events are deleted in a second, with the batches and pauses of the service. */
const measurePruning = (onStep: (step: string) => void): Promise<number> =>
  withDatabase(async (sql, prune) => {
    onStep(`storing ${eventsToDelete} events`)
    await sql`insert into event (channel, "offset", type, data, at)
              select 'emoji_id:id' || n % 10000, n / 10000, 'emoji_id.records', jsonb_build_object('filler', repeat('x', 250)),
                     now() - interval '2 days' + n * interval '1 ms' from generate_series(1, ${eventsToDelete}::int) n`
    await sql`vacuum analyze event`
    onStep("deleting them")
    const beganAt = performance.now()
    await prune(pruneEvents([]))
    const seconds = (performance.now() - beganAt) / 1000
    const [left] = await sql<[{ n: number }]>`select count(*)::int as n from event`
    if (left.n > 0) throw new BenchFailure(`${left.n} events were not deleted`)
    return eventsToDelete / seconds
  })

const mb = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)

/**
 * Simulates a year of the stated traffic, with the deletions of the service and without them. Returns Markdown tables of the
 * traffic and of the disk space, and the rate at which events are deleted.
 */
export async function runYear(onStep: (step: string) => void): Promise<string> {
  const deleted = await measurePruning(onStep)
  const kept = await simulate(true, onStep)
  const all = await simulate(false, onStep)
  const sum = (sizes: ReadonlyArray<TableSize>) => sizes.reduce((total, { bytes }) => total + bytes, 0)
  return [
    "| per day | |",
    "|---|---|",
    ...dailyTraffic.map(({ rows, what }) => `| ${what} | ${rows.toLocaleString("en")} |`),
    "",
    "| table | MB after a year | MB without pruning |",
    "|---|---|---|",
    ...tables.map((table) => {
      const [a, b] = [kept, all].map((sizes) => sizes.find((one) => one.table === table)?.bytes ?? 0)
      return `| \`${table}\` | ${mb(a!)} | ${mb(b!)} |`
    }),
    `| all | ${mb(sum(kept))} | ${mb(sum(all))} |`,
    "",
    `Events deleted per second: ${Math.round(deleted).toLocaleString("en")}`,
  ].join("\n")
}
