import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { describe, expect, inject, it } from "vitest"
import { toConnectionProblem } from "../../../src/postgres/checks/connection-problem.ts"
import { versionProblem } from "../../../src/postgres/checks/preflight.ts"
import { connect } from "../../../src/postgres/client.ts"
import { prepareDatabase } from "../../../src/postgres/schema/prepare-database.ts"
import { freePort } from "../../fixtures/free-port.ts"
import { cleanUp } from "../../fixtures/suite/clean-up.ts"

const prepare = (url: string) => prepareDatabase({ url }, 8000)
const { port, socketDir } = inject("postgres")
/** A URL of the test server with this role and database. */
const localUrl = (role: string, database: string) =>
  `postgres://${role}:s3cret@localhost:${port}/${database}?host=${socketDir}`

const asAdmin = async (...statements: ReadonlyArray<string>) => {
  const sql = connect({
    connection: { port, socketDir, database: "postgres" },
    poolSize: 1,
    statementTimeoutMs: 8000,
  })
  for (const statement of statements) await sql.unsafe(statement)
  await sql.end()
}

/** Listens like a Postgres without TLS: it answers a request for TLS with N. */
const listenWithoutTls = async () => {
  const server = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.end("N")))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  cleanUp(async () => void server.close())
  return (server.address() as AddressInfo).port
}

describe("a DATABASE_URL that cannot be used stops the start with one line that says what to do,", () => {
  it("if nothing listens at the address", async () => {
    const closed = await freePort()
    await expect(prepare(`postgres://u:s3cret@127.0.0.1:${closed}/d`)).rejects.toThrow(
      `DATABASE_URL: connection refused at 127.0.0.1:${closed}. Start Postgres there, or correct the address.`,
    )
  })

  it("if the host is unknown", async () => {
    await expect(prepare("postgres://u:s3cret@no-such-host.invalid/d")).rejects.toThrow(
      /^DATABASE_URL: the (host|name) of no-such-host\.invalid:5432 /,
    )
  })

  it("if there is no Unix socket in the folder", async () => {
    await expect(prepare("postgres://u:s3cret@/d?host=/nowhere")).rejects.toThrow(
      "DATABASE_URL: there is no Unix socket of Postgres in /nowhere. ",
    )
  })

  it("if TLS is required and the server has none", async () => {
    const plain = await listenWithoutTls()
    await expect(prepare(`postgres://u:s3cret@127.0.0.1:${plain}/d?sslmode=require`)).rejects.toThrow(
      `DATABASE_URL: the server at 127.0.0.1:${plain} offers no TLS, which sslmode requires. `,
    )
  })

  it("if the role does not exist or may not log in", async () => {
    await asAdmin("create role problem_nologin nologin")
    await expect(prepare(localUrl("problem_unknown", "postgres"))).rejects.toThrow(
      /^DATABASE_URL: role "problem_unknown" does not exist, at .*\. Correct the user/,
    )
    await expect(prepare(localUrl("problem_nologin", "postgres"))).rejects.toThrow(
      /^DATABASE_URL: role "problem_nologin" is not permitted to log in, .* allow it to log in/,
    )
  })

  it("if the database does not exist, with the statement that creates it", async () => {
    await expect(prepare(localUrl("postgres", "problem_missing"))).rejects.toThrow(
      /^DATABASE_URL: database "problem_missing" does not exist, .*\(create database NAME owner ROLE /,
    )
  })

  it("if the role may not create objects, with the statement that grants it", async () => {
    await asAdmin("create role problem_limited login", "create database problem_rights")
    await expect(prepare(localUrl("problem_limited", "problem_rights"))).rejects.toThrow(
      /^DATABASE_URL: the role "problem_limited" may not create objects .*: grant usage, create on schema "public" to "problem_limited"$/,
    )
  })

  it("if the password is wrong, and the line does not contain the password", () => {
    // The test server asks for no passwords. This is the error that a server with scram-sha-256 sends.
    const error = Object.assign(new Error('password authentication failed for user "app"'), { code: "28P01" })
    const server = { name: "db:5432", url: "postgres://app:s3cret@db/d", options: {} }
    const { message } = toConnectionProblem(error, server) as Error
    expect(message).toMatch(
      /^DATABASE_URL: password authentication failed for user "app", at db:5432\. Correct /,
    )
    expect(message).not.toContain("s3cret")
  })

  it("if Postgres is older than version 15", () => {
    expect(versionProblem(140_012, "14.12")).toBe(
      "Postgres 14.12 is too old. The service needs version 15 or newer",
    )
    expect(versionProblem(150_000, "15.0")).toBeUndefined()
  })
})
