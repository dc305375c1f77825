import { expect, it } from "vitest"
import { connect } from "../../../src/postgres/client.ts"
import { findNewer, migrate } from "../../../src/postgres/schema/migrate.ts"
import { createDatabase } from "../../fixtures/database.ts"
import { schemaWith } from "../../fixtures/schema-files.ts"

const open = async () =>
  connect({ connection: await createDatabase(), poolSize: 1, statementTimeoutMs: 8000 })

/** Makes the schema of a release 9.<number>.0, with a function that returns the number. */
const release = (number: number) =>
  schemaWith(
    {
      "functions/answer.sql": `create or replace function answer() returns int language sql as $$ select ${number} $$;`,
    },
    [9, number, 0],
  )

const answer = async (sql: Awaited<ReturnType<typeof open>>) => {
  const [row] = await sql<[{ answer: number }]>`select answer()`
  return row.answer
}

it("SQL functions are re-created if and only if their file has changed", async () => {
  const sql = await open()
  expect(await migrate(sql, release(1))).toEqual(["functions/answer.sql"])
  expect(await answer(sql)).toBe(1)
  expect(await migrate(sql, release(1))).toEqual([])
  expect(await migrate(sql, release(2))).toEqual(["functions/answer.sql"])
  expect(await answer(sql)).toBe(2)
  await sql.end()
})

it("a process of an older release that starts later does not replace the SQL functions of a newer release", async () => {
  const sql = await open()
  await migrate(sql, release(10))
  expect(await migrate(sql, release(9))).toEqual([])
  expect(await answer(sql)).toBe(10)
  expect(await findNewer(sql, release(9))).toEqual(["release 9.10.0"])
  expect(await findNewer(sql, release(10))).toEqual([])
  await sql.end()
})

it("if release 3 uses an SQL function of release 1 unchanged, release 2 does not replace this function", async () => {
  const sql = await open()
  await migrate(sql, release(1))
  const { folder } = release(1)
  expect(await migrate(sql, { folder, release: [9, 3, 0] })).toEqual([])
  expect(await migrate(sql, release(2))).toEqual([])
  expect(await answer(sql)).toBe(1)
  await sql.end()
})

it("a build with the same release number that lacks a migration of the database keeps its SQL functions", async () => {
  const sql = await open()
  const table = "create table only_in_the_newer_build (id int);"
  const functions = (number: number) => ({
    "functions/answer.sql": `create or replace function answer() returns int language sql as $$ select ${number} $$;`,
  })
  const newer = schemaWith({ ...functions(2), "9001_table.sql": table }, [9, 0, 0])
  const older = schemaWith(functions(1), [9, 0, 0])
  await migrate(sql, newer)
  expect(await migrate(sql, older)).toEqual([])
  expect(await answer(sql)).toBe(2)
  expect(await findNewer(sql, older)).toEqual(["9001_table.sql"])
  await sql.end()
})

it("if one SQL function cannot be created, the other new functions are not created either", async () => {
  const sql = await open()
  const broken = schemaWith({
    "functions/a.sql": "create or replace function first() returns int language sql as $$ select 1 $$;",
    "functions/b.sql":
      "create or replace function second() returns no_such_type language sql as $$ select 1 $$;",
  })
  await expect(migrate(sql, broken)).rejects.toThrow("no_such_type")
  expect(await sql`select 1 from pg_proc where proname = 'first'`).toHaveLength(0)
  expect(await sql`select 1 from function_file where name = 'functions/a.sql'`).toHaveLength(0)
  await sql.end()
})

it("if processes of several releases start simultaneously, the SQL functions of the newest release are installed", async () => {
  const connection = await createDatabase()
  const processes = Array.from({ length: 8 }, (_, n) => ({
    sql: connect({ connection, poolSize: 1, statementTimeoutMs: 8000 }),
    number: (n % 4) + 1,
  }))
  await Promise.all(processes.map(({ number, sql }) => migrate(sql, release(number))))
  expect(await answer(processes[0]!.sql)).toBe(4)
  await Promise.all(processes.map(({ sql }) => sql.end()))
})
