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

it("if the database refuses further connections, the open connections run all statements", async () => {
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
  // A refused connection is not used for one second. On a slow machine the statements may take longer, use it again
  // and fail. So the test repeats them.
  await vi.waitFor(async () => expect(await few.runPromise(asked)).toHaveLength(6), patiently)
  await few.dispose()
  await sql.unsafe(`drop role ${role}`)
})

it("a statement does not wait behind another that waits for a lock, if another connection is available", async () => {
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
      // The clock is stopped from here on. Otherwise, on a slow machine, other statements could count as held up too.
      const now = performance.now()
      vi.useFakeTimers({ toFake: ["performance"] })
      vi.advanceTimersByTime(now + 2 * heldUpMs)
      // A background statement that began before the clock was moved would count as held up too. So the test waits
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
