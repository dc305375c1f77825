import type { Done, Job } from "../load/generator.ts"
import type { Lane, Settle } from "../load/lane.ts"
import { runLoop } from "../load/loop.ts"
import { Window } from "../load/window.ts"
import { openDatabase, poolSize } from "./database.ts"

// This baseline is the upper limit for writes. It only runs one UPDATE by primary key for each operation. Each
// database connection has its own client, as in the service, because a single client for all connections becomes
// slower over time.
const rows = 10_000
const snapshot = JSON.stringify({ value: "Draft", context: { items: ["🐙", "🎉"], total: 1200 } })

const database = await openDatabase(process.argv[2] ?? "")
const connections = Array.from({ length: poolSize }, () => ({ client: database.connect(1), running: 0 }))
const sql = connections[0]!.client
await sql`create table entity (id int primary key, version int not null, snapshot jsonb not null)`
await sql`insert into entity select n, 0, ${snapshot}::jsonb from generate_series(0, ${rows - 1}::int) n`
await sql`vacuum analyze entity`

function openLane(_: number, settle: Settle): Lane {
  const lane: Lane = {
    intendedAtMs: 0,
    fire: (intendedAtMs) => {
      lane.intendedAtMs = intendedAtMs
      const id = Math.floor(Math.random() * rows)
      const connection = connections.reduce((best, one) => (one.running < best.running ? one : best))
      connection.running++
      connection.client`update entity set version = version + 1, snapshot = ${snapshot}::jsonb where id = ${id}`.then(
        (result) => {
          connection.running--
          settle(lane, result.count === 1 ? undefined : "body")
        },
        // On a closed pool every statement fails at once. Without `setImmediate`, the loop would send statements
        // without a pause and block all other work.
        () => {
          connection.running--
          setImmediate(() => settle(lane, "statement"))
        },
      )
    },
    close: () => {},
  }
  return lane
}

process.channel?.ref()
process.on("message", async ({ plan }: Job) => {
  try {
    const run = await runLoop(plan, new Window(process.pid), openLane)
    process.send?.({ type: "done", run } satisfies Done)
  } catch (error) {
    process.send?.({ type: "failed", reason: String(error) })
  }
})
process.send?.({ type: "ready" })
