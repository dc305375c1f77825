import { mkdtempSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TLSSocket } from "node:tls"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { readConfig } from "../../src/config/read-config.ts"
import { connect } from "../../src/postgres/client.ts"
import { certificates } from "../fixtures/servers/certificates.ts"

const folder = mkdtempSync(join(tmpdir(), "database-url-"))
const authority = join(folder, "authority.pem")
const stranger = join(folder, "stranger.pem")
writeFileSync(authority, certificates.authority)
writeFileSync(stranger, certificates.otherAuthority)

interface Greeting {
  readonly isEncrypted: boolean
  readonly parameters: ReadonlyArray<string>
}
const greetings: Array<Greeting> = []
const sslRequest = 80877103
const postgres = "user=postgres&dbname=postgres"

/** Acts as a database server: reads the startup message of a client, records it, and rejects the login. */
const greet = (socket: Socket | TLSSocket, isEncrypted: boolean) => {
  socket.on("error", () => {})
  socket.once("data", (data: Buffer) => {
    if (data.readInt32BE(4) === sslRequest) {
      socket.write("S")
      const { server: cert, serverKey: key } = certificates
      return greet(new TLSSocket(socket as Socket, { isServer: true, cert, key }), true)
    }
    const words = data.subarray(8).toString().split("\0")
    greetings.push({ isEncrypted, parameters: words.filter((_, i) => i % 2 === 0 && words[i] !== "") })
    const fields = Buffer.from("SFATAL\0C28000\0Mgo away\0\0")
    const head = Buffer.from([0x45, 0, 0, 0, fields.length + 4])
    socket.end(Buffer.concat([head, fields]))
  })
}
const server = createServer((socket) => greet(socket, false))
beforeAll(() => new Promise<void>((ready) => server.listen(0, "localhost", ready)))
afterAll(() => server.close())

const visit = async (query: string): Promise<Greeting | undefined> => {
  greetings.length = 0
  const { port } = server.address() as AddressInfo
  const url = `postgres://user:word@localhost:${port}/db?${query}`
  const sql = connect({ connection: { url }, poolSize: 1, statementTimeoutMs: 1000 })
  await sql`select 1`.catch(() => {})
  await sql.end({ timeout: 0 })
  return greetings[0]
}
const problems = (query: string) => {
  const read = readConfig({ DATABASE_URL: `postgres://user:word@localhost/db?${query}` })
  return "problems" in read ? read.problems : []
}

describe("a database URL with libpq parameters", () => {
  it.each(["require", "verify-ca", "verify-full"])(
    "connects only to servers whose certificate was issued by `sslrootcert`: sslmode=%s",
    async (mode) => {
      expect(await visit(`sslmode=${mode}&sslrootcert=${authority}`)).toMatchObject({ isEncrypted: true })
      expect(await visit(`sslmode=${mode}&sslrootcert=${stranger}`)).toBeUndefined()
    },
  )

  it("connects only to servers whose certificate was issued by `sslrootcert`, also without `sslmode`", async () => {
    expect(await visit(`sslrootcert=${authority}`)).toMatchObject({ isEncrypted: true })
    expect(await visit(`sslrootcert=${stranger}`)).toBeUndefined()
    expect(await visit("sslrootcert=system")).toBeUndefined()
  })

  it("may contain parameters that have no effect; these parameters are not sent to the server", async () => {
    const query = "channel_binding=prefer&gssencmode=disable&keepalives=1&target_session_attrs=any"
    expect(problems(query)).toEqual([])
    const { isEncrypted, parameters } = (await visit(`${query}&search_path=directory`))!
    expect(isEncrypted).toBe(false)
    expect(parameters).toContain("search_path")
    for (const name of ["channel_binding", "gssencmode", "keepalives", "target_session_attrs"])
      expect(parameters).not.toContain(name)
  })

  it.each([
    ["sslmode=require&channel_binding=require", "channel_binding=require is not supported; remove it"],
    ["gssencmode=require", "gssencmode=require is not supported; remove it"],
    ["sslcrl=/etc/revoked.pem", "sslcrl=/etc/revoked.pem is not supported; remove it"],
  ])("is rejected at startup if it requires an unsupported feature: %s", (query, reason) => {
    expect(problems(query)).toEqual([`DATABASE_URL: ${reason}`])
  })

  it("is rejected at startup if its root certificate cannot be read", () => {
    expect(problems("sslmode=verify-full&sslrootcert=/nowhere/root.pem")).toEqual([
      expect.stringMatching(/^DATABASE_URL: cannot read sslrootcert: ENOENT.*root\.pem'$/),
    ])
  })

  it.each([
    ["in the query", (at: string, port: number) => `postgresql:///no?host=${at}&port=${port}&${postgres}`],
    [
      "as the host",
      (at: string, port: number) => `postgres://postgres@${encodeURIComponent(at)}:${port}/postgres`,
    ],
    [
      "in the query, after a login without a host, with sslmode=require",
      (at: string, port: number) => `postgres://postgres@/postgres?host=${at}&port=${port}&sslmode=require`,
    ],
  ])("may contain the directory of a Unix socket: %s", async (_, address) => {
    const { port, socketDir } = inject("postgres")
    const url = address(socketDir, port)
    expect(readConfig({ DATABASE_URL: url })).not.toHaveProperty("problems")
    const sql = connect({ connection: { url }, poolSize: 1, statementTimeoutMs: 1000 })
    try {
      expect(await sql`select current_database() as name, inet_server_addr() as address`).toEqual([
        { name: "postgres", address: null },
      ])
    } finally {
      await sql.end({ timeout: 0 })
    }
  })

  it("cannot override the session settings that the service relies on", async () => {
    const { port, socketDir } = inject("postgres")
    const asked = [
      "timezone=Asia/Tokyo&DateStyle=German&BYTEA_OUTPUT=escape&client_encoding=LATIN1",
      "default_transaction_isolation=serializable&Statement_Timeout=0&lock_timeout=900",
      "options=-c%20TimeZone=Asia/Tokyo%20-c%20statement_timeout=0",
    ].join("&")
    const url = `postgresql:///no?host=${socketDir}&port=${port}&${postgres}&${asked}`
    const sql = connect({ connection: { url }, poolSize: 1, statementTimeoutMs: 1000 })
    try {
      expect(
        await sql`
          select '2026-11-05T06:07:08Z'::timestamptz as at, '\\x00ff41'::bytea as bytes, '🚀é' as text,
            current_setting('transaction_isolation') as isolation,
            current_setting('statement_timeout') as longest, current_setting('lock_timeout') as lock`,
      ).toEqual([
        {
          at: "2026-11-05T06:07:08.000Z",
          bytes: Buffer.from([0, 255, 65]),
          text: "🚀é",
          isolation: "read committed",
          longest: "1s",
          lock: "900ms",
        },
      ])
    } finally {
      await sql.end({ timeout: 0 })
    }
  })

  it("is rejected at startup if its port is invalid", () => {
    expect(problems("port=many")).toEqual(["DATABASE_URL: port=many is not a valid port"])
    expect(problems("port=65536")).toEqual(["DATABASE_URL: port=65536 is not a valid port"])
  })
})
