import { expect, it, vi } from "vitest"
import { connect, type DatabaseAddress } from "../../../src/postgres/client.ts"
import { migrate } from "../../../src/postgres/schema/migrate.ts"
import { prepareDatabase } from "../../../src/postgres/schema/prepare-database.ts"
import { currentSchema } from "../../../src/postgres/schema/sql-files.ts"
import { createDatabase } from "../../fixtures/database.ts"
import { schemaWith } from "../../fixtures/schema-files.ts"

const open = (connection: DatabaseAddress, statementTimeoutMs: number) =>
  connect({ connection, poolSize: 1, statementTimeoutMs })

const statementMs = 500

/** The schema with one more migration, which needs a lock on a table that the service writes to all the time. */
const withLater = schemaWith({ "0100_later.sql": "create index entity_later on entity (updated_at);" })

/**
 * Migrates with a short statement timeout, while another connection holds a lock for longer than this timeout.
 * Returns the names of the applied files.
 */
const migrateDespite = async (connection: DatabaseAddress, lock: string, schema = currentSchema) => {
  const [patient, hurried, watching] = [
    open(connection, 0),
    open(connection, statementMs),
    open(connection, 0),
  ]
  const waiting = () => watching`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and clock_timestamp() > query_start + ${2 * statementMs} * interval '1 millisecond'`
  const { applied } = await patient.begin(async (q) => {
    await q.unsafe(lock)
    const applied = migrate(hurried, schema).catch(String)
    await expect.poll(waiting).toHaveLength(1)
    return { applied }
  })
  const names = await applied
  await Promise.all([patient.end(), hurried.end(), watching.end()])
  return names
}

/** Sets a short lock_timeout for all sessions, as some operators do. */
const setLockTimeout = async (connection: DatabaseAddress) => {
  const sql = open(connection, 0)
  const [{ name } = { name: "" }] = await sql`select current_database() as name`
  await sql.unsafe(`alter database ${name} set lock_timeout = '20ms'`)
  await sql.end()
}

it("a migration may run longer than the statement timeout of the service", async () => {
  const connection = await createDatabase()
  expect(await migrateDespite(connection, "lock table entity", withLater)).toEqual(["0100_later.sql"])
})

it("a process that starts during a migration waits until the migration ends, even with a short `lock_timeout`", async () => {
  const connection = await createDatabase()
  await setLockTimeout(connection)
  expect(await migrateDespite(connection, "select pg_advisory_xact_lock(730214906)")).toEqual([])
})

it("a migration file that was edited after it was applied is rejected", async () => {
  const sql = open(await createDatabase(), 8000)
  const edited = schemaWith({ "0012_demo.sql": "create table another (id int);" })
  await expect(migrate(sql, edited)).rejects.toThrow(
    "migration 0012_demo.sql was changed after it was applied to this database",
  )
  await sql.end()
})

it("a database that was created by a version before 0.2.0 is rejected with a one-line error and is not changed", async () => {
  const connection = await createDatabase()
  const sql = open(connection, 8000)
  await sql`update migration set name = '0001_turn.sql' where name = '0001_turns.sql'`
  await sql`drop function take_rate`
  await sql`delete from function_file`
  const refused = await prepareDatabase(connection, 8000).then(
    () => "",
    ({ message }: Error) => message,
  )
  expect(refused).toMatch(/^This database was created by a version before 0\.2\.0, .*empty database.*$/)
  expect(await sql`select 1 from function_file`).toHaveLength(0)
  await sql.end()
})

it("a migration that waits for a table lock does not block writes of the running service to the table", async () => {
  const connection = await createDatabase()
  const [keeper, migrating, serving] = [open(connection, 0), open(connection, 0), open(connection, 8000)]
  // This session holds a lock, like a dump or a session that someone forgot to close.
  await keeper.unsafe("begin; lock table entity in row exclusive mode").simple()
  const migrated = migrate(migrating, withLater)
  const waiting = async () =>
    (await serving`select 1 from pg_locks where not granted and relation = 'entity'::regclass`).length
  try {
    await expect.poll(waiting, { interval: 20 }).toBe(1)
    await serving`update entity set due_at = null where false`
  } finally {
    await keeper.unsafe("commit").simple()
    expect(await migrated).toEqual(["0100_later.sql"])
    await Promise.all([keeper.end(), migrating.end(), serving.end()])
  }
})

it("a process that serves requests logs one line if a newer version has migrated its database", async () => {
  const connection = await createDatabase()
  const said = vi.spyOn(console, "error").mockImplementation(() => {})
  const lines = () => said.mock.calls.map(([line]) => String(line))
  try {
    await prepareDatabase(connection, 8000, { serves: true })
    expect(lines()).toEqual([])
    const sql = open(connection, 8000)
    await sql`insert into migration (name, sha256) values ('9998_later.sql', ''), ('9999_latest.sql', '')`
    await sql.end()
    // A process that does not serve requests logs nothing. Such a process is the command line, or a worker whose
    // parent process has already logged the line.
    await prepareDatabase(connection, 8000)
    expect(lines()).toEqual([])
    await prepareDatabase(connection, 8000, { serves: true })
    expect(lines()).toEqual([expect.stringContaining("newer version (9998_later.sql, 9999_latest.sql)")])
  } finally {
    said.mockRestore()
  }
})
