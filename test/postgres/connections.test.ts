import { randomUUID } from "node:crypto"
import { Effect, ManagedRuntime } from "effect"
import { expect, it, vi } from "vitest"
import { heldUpMs } from "../../src/postgres/connections.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { serve } from "../fixtures/service.ts"
import { patiently } from "../fixtures/suite/patience.ts"
import { waiting } from "../fixtures/waiting.ts"

const service = await serve({ POOL_SIZE: "2", STATEMENT_TIMEOUT_MS: "60000" })
const together = { concurrency: "unbounded" } as const
const ask = (statement: Parameters<(typeof Sql)["Service"]["rows"]>[0]) =>
  service.runtime.runPromise(Sql.use((sql) => sql.rows(statement)))

it("the open connection runs all statements if the database refuses further connections", async () => {
  const { database, sql } = service
  if (!("socketDir" in database)) throw new Error("the test database must be reached by its socket")
  const role = `few_${randomUUID().slice(0, 8)}`
  await sql.unsafe(`create role ${role} login connection limit 1`)
  const host = encodeURIComponent(database.socketDir)
  const url = `postgres://${role}@${host}:${database.port}/${database.database}`
  const few = ManagedRuntime.make(Sql.layer({ connection: { url }, poolSize: 4, statementTimeoutMs: 8000 }))
  const later = (ways: Sql["Service"]) =>
    [ways.rows, ways.once].map((way) => way((q) => q`select pg_sleep(0.2)`))
  await few.runPromise(Sql.use((ways) => ways.rows((q) => q`select 1`)))
  const asked = Sql.use((ways) => Effect.all([...later(ways), ...later(ways), ...later(ways)], together))
  // A refused connection is not tried again for one second. On a slow machine the statements may take longer than
  // that. Then the connection is tried again, and a statement fails. So the test repeats the statements.
  await vi.waitFor(async () => expect(await few.runPromise(asked)).toHaveLength(6), patiently)
  await few.dispose()
  await sql.unsafe(`drop role ${role}`)
})

it("a statement does not wait behind a statement that is blocked by a lock if another connection is free", async () => {
  const { id } = await service.user()
  let isHeld = true
  let held: Promise<unknown> | undefined
  await service.sql
    .begin(async (sql) => {
      await sql`select 1 from app_user where id = ${id} for update`
      held = ask((q) => q`update app_user set first_name = 'Ada' where id = ${id}`).then(() => {
        isHeld = false
      })
      await expect.poll(() => waiting(service)).toHaveLength(1)
      // The clock is stopped from here on. Otherwise, on a slow machine, other statements could also count as blocked.
      const now = performance.now()
      vi.useFakeTimers({ toFake: ["performance"] })
      // The fake clock starts at 0 or at the current time, depending on the version of Node.
      vi.advanceTimersByTime(now + 2 * heldUpMs - performance.now())
      // A background statement that began before the clock was moved would also count as blocked. So the test waits
      // until only the blocked statement runs.
      const running = Sql.use((ways) => Effect.sync(() => ways.stats().running))
      await expect.poll(() => service.runtime.runPromise(running)).toBe(1)
      for (let round = 0; round < 5; round++)
        await Promise.all(Array.from({ length: 8 }, () => ask((q) => q`select 1`)))
      expect(isHeld).toBe(true)
    })
    .finally(() => vi.useRealTimers())
  await held
})
