import { describe, expect, inject, it } from "vitest"
import { checkPreflight } from "../../../src/postgres/checks/preflight.ts"
import { connect, type DatabaseAddress } from "../../../src/postgres/client.ts"
import { createDatabase } from "../../fixtures/database.ts"
import { freePort } from "../../fixtures/free-port.ts"
import { startProgram, temporaryFolder } from "../../fixtures/program.ts"
import { droppedSettings, pgbouncerBinary, poolBefore } from "../../fixtures/servers/pgbouncer.ts"
import { cleanUp } from "../../fixtures/suite/clean-up.ts"

const statementTimeoutMs = 8000
const options = (connection: DatabaseAddress) => ({ connection, poolSize: 1, statementTimeoutMs })
const run = async (connection: DatabaseAddress, statement: string) => {
  const sql = connect(options(connection))
  await sql.unsafe(statement)
  await sql.end()
}
const start = async (databaseUrl: string) => {
  const port = await freePort()
  const program = startProgram({
    PORT: String(port),
    DATA_DIR: temporaryFolder(),
    DATABASE_URL: databaseUrl,
    DEMO: "false",
  })
  cleanUp(() => {
    program.child.kill("SIGTERM")
    return program.ended
  })
  return { program, base: `http://127.0.0.1:${port}` }
}

/** Creates a database that sets the statement timeout for all sessions. */
const createLimited = async () => {
  const database = await createDatabase()
  if (!("database" in database)) throw new Error("the test database must be reached by its socket")
  await run(database, `alter database ${database.database} set statement_timeout = ${statementTimeoutMs}`)
  return database
}

describe.skipIf(pgbouncerBinary === undefined)("a PgBouncer in front of the database", () => {
  it("works in session mode, and service processes receive notifications from each other through it", async () => {
    const url = await poolBefore(await createLimited(), {
      pool_mode: "session",
      ignore_startup_parameters: droppedSettings,
    })
    const { base, program } = await start(url)
    await program.printed("docs")
    expect((await fetch(`${base}/ready`)).status).toBe(200)
    const metrics = async () => await (await fetch(`${base}/metrics`)).text()
    const other = await start(url)
    await other.program.printed("docs")
    await expect.poll(metrics).toMatch(/^\w*bus_peers\S* 1$/m)
  })

  it("in transaction mode is rejected at startup with a one-line error", async () => {
    const url = await poolBefore(await createLimited(), {
      pool_mode: "transaction",
      ignore_startup_parameters: droppedSettings,
    })
    const { program } = await start(url)
    expect((await program.ended).code).toBe(1)
    expect(program.output().trim()).toBe(
      "DATABASE_URL: notifications do not arrive: set the pooler to session mode, or connect without it",
    )
  })

  it("that drops the statement timeout is rejected, and the error contains the SQL that sets the timeout", async () => {
    const url = await poolBefore(await createDatabase(), { ignore_startup_parameters: droppedSettings })
    await expect(checkPreflight(options({ url }))).rejects.toThrow(
      /^DATABASE_URL: statement_timeout is '0' instead of '8000', .* alter role … set statement_timeout = '8000'$/,
    )
  })

  it("that does not allow a session setting is rejected, and the error refers to docs/operating.md", async () => {
    const url = await poolBefore(await createDatabase(), {})
    await expect(checkPreflight(options({ url }))).rejects.toThrow(
      /^DATABASE_URL: the pooler rejects a session setting: "unsupported startup parameter: \w+"; see docs\/operating.md/,
    )
  })
})

describe("a database", () => {
  it("is rejected if its encoding cannot store emoji", async () => {
    const { port, socketDir } = inject("postgres")
    const address = { socketDir, port }
    await run(
      { ...address, database: "postgres" },
      "create database latin encoding LATIN1 template template0 locale_provider libc lc_collate 'C' lc_ctype 'C'",
    )
    await expect(checkPreflight(options({ ...address, database: "latin" }))).rejects.toThrow(
      "DATABASE_URL: the encoding of the database is LATIN1, but emoji require UTF8",
    )
  })

  it("is rejected with a one-line error if it is the embedded Postgres of another service", async () => {
    const { port, socketDir } = inject("postgres")
    const { program } = await start(`postgres://postgres@localhost:${port}/postgres?host=${socketDir}`)
    await program.printed("embedded Postgres of another service")
    expect((await program.ended).code).toBe(1)
    expect(program.output().trim()).toBe(
      "DATABASE_URL: this is the embedded Postgres of another service, which cannot be shared",
    )
  })

  it("that is reached without a pooler is accepted", async () => {
    await expect(checkPreflight(options(await createDatabase()))).resolves.toBeUndefined()
  })
})
