import { setTimeout as sleep } from "node:timers/promises"
import { expect, it, vi } from "vitest"
import { migrate } from "../../src/store/migrate.ts"
import { prepareDatabase } from "../../src/store/prepare.ts"
import { connect, type DatabaseAddress } from "../../src/store/sql.ts"
import { createDatabase } from "../fixtures/database.ts"

const open = (connection: DatabaseAddress, statementTimeoutMs: number) =>
  connect({ connection, poolSize: 1, statementTimeoutMs })

/** Migrates with 200 ms for a statement, while another connection keeps it waiting for longer. */
const migrateDespite = async (connection: DatabaseAddress, lock: string) => {
  const [patient, hurried] = [open(connection, 0), open(connection, 200)]
  const held = patient.begin(async (q) => {
    await q.unsafe(lock)
    await sleep(800)
  })
  await sleep(100)
  const applied = await migrate(hurried).catch(String)
  await held
  await Promise.all([patient.end(), hurried.end()])
  return applied
}

/** As operators do for their roles. */
const setLockTimeout = async (connection: DatabaseAddress) => {
  const sql = open(connection, 0)
  const [{ name } = { name: "" }] = await sql`select current_database() as name`
  await sql.unsafe(`alter database ${name} set lock_timeout = '20ms'`)
  await sql.end()
}

it("a migration may take longer than a statement of the service", async () => {
  const connection = await createDatabase()
  const sql = open(connection, 0)
  await sql`drop index entity_listed`
  await sql`delete from migration where name = '0018_orders_listed.sql'`
  await sql.end()
  expect(await migrateDespite(connection, "lock table entity")).toEqual(["0018_orders_listed.sql"])
})

it("a process that starts while another migrates waits for it, however short its role may wait for locks", async () => {
  const connection = await createDatabase()
  await setLockTimeout(connection)
  expect(await migrateDespite(connection, "select pg_advisory_xact_lock(730214906)")).toEqual([])
})

it("a migration that waits for a table keeps no process of the version before from writing there", async () => {
  const connection = await createDatabase()
  const [keeper, migrating, serving] = [open(connection, 0), open(connection, 0), open(connection, 8000)]
  await serving`drop index entity_listed`
  await serving`delete from migration where name = '0018_orders_listed.sql'`
  // As a session that was left open, or for other tables a dump.
  await keeper.unsafe("begin; lock table entity in row exclusive mode").simple()
  const migrated = migrate(migrating)
  const waiting = async () =>
    (await serving`select 1 from pg_locks where not granted and relation = 'entity'::regclass`).length
  try {
    await expect.poll(waiting, { timeout: 10_000, interval: 20 }).toBe(1)
    await serving`update entity set due_at = null where false`
  } finally {
    await keeper.unsafe("commit").simple()
    expect(await migrated).toEqual(["0018_orders_listed.sql"])
    await Promise.all([keeper.end(), migrating.end(), serving.end()])
  }
}, 40_000)

it("a program that is to serve a database of a newer version says so, once", async () => {
  const connection = await createDatabase()
  const said = vi.spyOn(console, "error").mockImplementation(() => {})
  const lines = () => said.mock.calls.map(([line]) => String(line))
  try {
    await prepareDatabase(connection, 8000, { serves: true })
    expect(lines()).toEqual([])
    const sql = open(connection, 8000)
    await sql`insert into migration (name, sha256) values ('9998_later.sql', ''), ('9999_latest.sql', '')`
    await sql.end()
    // A worker, whose parent has said it, and the command line.
    await prepareDatabase(connection, 8000)
    expect(lines()).toEqual([])
    await prepareDatabase(connection, 8000, { serves: true })
    expect(lines()).toEqual([expect.stringContaining("newer version (9998_later.sql, 9999_latest.sql)")])
  } finally {
    said.mockRestore()
  }
})
