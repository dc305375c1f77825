import { describe, expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })

/** Returns every row of every table as text, like a dump of the database. */
const dump = async (): Promise<string> => {
  const tables = await service.sql<Array<{ name: string }>>`
    select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`
  const parts = await Promise.all(
    tables.map(({ name }) =>
      service.sql.unsafe<Array<{ row: string }>>(`select t::text as row from ${name} t`),
    ),
  )
  return parts.flatMap((rows) => rows.map(({ row }) => row)).join("\n")
}

describe("a dump of the database", () => {
  it("contains no password, API key, client secret or private key in plain text", async () => {
    const user = await service.user()
    const password = "correct horse battery"
    await service.call("PATCH", `/users/${user.id}`, { token: admin.token, body: { password } })
    const key = (await service.call("POST", "/api_keys", { token: admin.token, body: { name: "k" } })).body
    const client = (
      await service.call("POST", "/oauth_clients", {
        token: admin.token,
        body: { name: "App", redirect_uris: ["https://a.example/cb"] },
      })
    ).body
    const pubkey = (await service.call("POST", "/pubkeys", { token: admin.token })).body
    const text = await dump()
    expect(text).toContain(key.id)
    expect(text).toContain(client.client_id)
    expect(text).toContain(pubkey)
    expect(text).not.toContain(password)
    expect(text).not.toContain(key.api_key.split("_")[2])
    expect(text).not.toContain(client.client_secret.split("_")[1])
    const sealed = /v1\.test\.[\w-]{80}\.[\w-]{38,}/
    expect(text.split("\n").find((row) => row.includes(pubkey))).toMatch(sealed)
  })

  it("contains no name, email or API key id of a deleted user", async () => {
    const user = await service.user({ email: "forget-me@example.com" })
    await service.call("PATCH", `/users/${user.id}`, {
      token: admin.token,
      body: { first_name: "Unforgettable" },
    })
    const key = (await service.call("POST", "/api_keys", { token: user.token, body: { name: "mine" } })).body
    await service.sql`insert into outbox (recipient, kind, payload) values ('forget-me@example.com', 'magic_link', 'sealed')`
    await service.call("POST", "/auth/magic_link", { body: { email: "forget-me@example.com" } })
    expect(await dump()).toContain("Unforgettable")
    expect((await service.call("DELETE", `/users/${user.id}`, { token: user.token })).status).toBe(200)
    const text = await dump()
    for (const trace of ["forget-me", "Unforgettable", key.id]) expect(text).not.toContain(trace)
  })
})
