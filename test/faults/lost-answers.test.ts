import { randomBytes } from "node:crypto"
import { ed25519 } from "@noble/curves/ed25519.js"
import { beforeAll, expect, it } from "vitest"
import { mails, newestLink, password, register, someEmail, turnOnTotp } from "../accounts/person.ts"
import { createDatabase } from "../fixtures/database.ts"
import { type DatabaseProxy, proxyTo } from "../fixtures/servers/database-proxy.ts"
import { serve, type TestService } from "../fixtures/service.ts"

let proxy: DatabaseProxy
let service: TestService
beforeAll(async () => {
  proxy = await proxyTo(await createDatabase())
  service = await serve({}, { database: proxy.address })
})

/**
 * Runs a request. The database commits the given statement, but its result is lost on the way to the service, so the
 * service repeats the statement.
 */
const losing = async <A>(statement: string, ask: () => Promise<A>): Promise<A> => {
  const before = proxy.lost()
  proxy.loseAnswerTo(statement)
  const answer = await ask()
  expect(proxy.lost()).toBe(before + 1)
  return answer
}
const account = async (token: string) => (await service.call("GET", "/account", { token })).body

it("a magic link revokes the API keys of an unconfirmed account even if the database's response is lost", async () => {
  const squatter = await register(service, { password: undefined })
  const { body: key } = await service.call("POST", "/api_keys", {
    token: squatter.token,
    body: { name: "mine" },
  })
  const use = async () =>
    (await service.call("GET", "/emoji_id", { headers: { "x-api-key": key.api_key } })).status
  expect(await use()).toBe(200)
  await service.call("POST", "/auth/magic_link", { body: { email: squatter.email } })
  const token = await newestLink(service, squatter.email)
  const answer = await losing("consume_magic_link", () =>
    service.call("POST", "/auth/magic_link/consume", { body: { token } }),
  )
  expect(answer.status).toBe(200)
  expect(await service.sql`select 1 from api_key where id = ${key.id}`).toEqual([])
  expect(await use()).toBe(401)
})

it("an added public key is shown in the account even if the database's response is lost", async () => {
  const owner = await service.user()
  expect((await account(owner.token)).pubkeys).toEqual([])
  const pubkey = Buffer.from(ed25519.getPublicKey(randomBytes(32))).toString("hex")
  const answer = await losing("add_pubkey", () =>
    service.call("POST", `/pubkeys/${pubkey}`, { token: owner.token }),
  )
  expect([answer.status, answer.body]).toEqual([200, pubkey])
  expect((await account(owner.token)).pubkeys).toEqual([pubkey])
})

it("an email change is not rejected as already registered when its SQL statement is repeated", async () => {
  const person = await register(service)
  const email = someEmail()
  await account(person.token)
  const answer = await losing("update_account", () =>
    service.call("PATCH", "/account", { token: person.token, body: { email, current_password: password } }),
  )
  expect([answer.status, answer.body?.fields]).toEqual([200, undefined])
  expect((await account(person.token)).user.email).toBe(email)
  expect((await mails(service, email)).length).toBe(1)
})

it("a backup code disables two-factor authentication even if the database's response is lost", async () => {
  const person = await register(service)
  const { backupCodes } = await turnOnTotp(service, person.token)
  const createKey = () => service.call("POST", "/api_keys", { token: person.token, body: { name: "k" } })
  await losing("backup_disable_two_factor", () =>
    service.call("POST", "/account/2fa/backup_disable", {
      body: { email: person.email, backup_code: backupCodes[0], disable_all: true },
    }),
  )
  expect((await account(person.token)).user.two_factor_auth).toEqual([])
  expect((await createKey()).status).toBe(200)
})

it("a removed feature is not shown in the account even if the database's response is lost", async () => {
  const admin = await service.user({ role: "Admin" })
  const owner = await service.user()
  const { body: feature } = await service.call("POST", "/features", {
    token: admin.token,
    body: { code: "early", description: "early" },
  })
  const path = `/users/${owner.id}/features/${feature.id}`
  await service.call("PUT", path, { token: admin.token })
  expect((await account(owner.token)).features.length).toBe(1)
  await losing("delete from user_feature", () => service.call("DELETE", path, { token: admin.token }))
  expect((await account(owner.token)).features).toEqual([])
})

/** Resources that administrators create. Each entry has the name, the path, the statement, the table and the body. */
const creations = [
  [
    "a code",
    "/codes",
    "insert into code",
    "code",
    (name: string) => ({ ...discount, name, redemption_code: name }),
  ],
  [
    "an organization",
    "/organizations",
    "insert into organization",
    "organization",
    (name: string) => ({ name }),
  ],
  [
    "a lootbox type",
    "/lootbox_type",
    "insert into lootbox_type",
    "lootbox_type",
    (name: string) => ({ ...type, name }),
  ],
] as const
const discount = { code_type: "Discount", discount_as_percentage: 10 }
const type = {
  description: "small",
  config: {
    size: 1,
    min_length: 3,
    max_length: 4,
    min_base_score: 1,
    max_base_score: 100,
    guarantees: [],
    weights: [],
  },
}
const nameOf = () => `n-${randomBytes(6).toString("hex")}`

it.each(creations)(
  "%s is created once when its SQL statement is repeated, and is not rejected as a duplicate",
  async (_, path, statement, table, bodyOf) => {
    const admin = await service.user({ role: "Admin" })
    const name = nameOf()
    const make = () => service.call("POST", path, { token: admin.token, body: bodyOf(name) })
    const answer = await losing(statement, make)
    expect(answer.status).toBe(200)
    const made = await service.sql`select id from ${service.sql(table)} where name = ${name}`
    expect(made).toEqual([{ id: answer.body.id }])
  },
)

/** Runs a request like `losing`, but the result of every repetition of the statement is lost too. */
const losingAll = async <A>(statement: string, ask: () => Promise<A>): Promise<A> => {
  const again = setInterval(() => proxy.loseAnswerTo(statement), 1)
  try {
    return await ask()
  } finally {
    clearInterval(again)
    proxy.heal()
  }
}

it("a session revoked for token reuse gives no access even if the database's response to the revocation is lost", async () => {
  // This test needs a new service. The proxy finds a statement by its text, and a connection sends this text only the
  // first time. The connections of `service` have already sent it.
  const other = await serve({}, { database: proxy.address })
  const person = await register(service)
  const refresh = ({ call }: TestService, refresh_token: string) =>
    call("POST", "/auth/token/refresh", { body: { refresh_token } })
  const second = (await refresh(service, person.refresh)).body
  const { access_token: token } = (await refresh(service, second.refresh_token)).body
  expect((await other.call("GET", "/account", { token })).status).toBe(200)
  expect((await losingAll("commit_batch", () => refresh(other, person.refresh))).status).toBe(503)
  const [session] = await service.sql`select status from entity where id = ${person.sessionId}`
  expect(session).toEqual({ status: "Revoked" })
  expect((await other.call("GET", "/account", { token })).status).toBe(401)
})
