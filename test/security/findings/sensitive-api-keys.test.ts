import { describe, expect, it } from "vitest"
import { connect } from "../../../src/postgres/client.ts"
import { migrate } from "../../../src/postgres/schema/migrate.ts"
import {
  endGrace,
  login,
  mails,
  newestLink,
  password,
  register,
  totpCode,
  turnOnTotp,
} from "../../accounts/person.ts"
import { createDatabase } from "../../fixtures/database.ts"
import { serve } from "../../fixtures/service.ts"
import { card, freshId } from "../../orders/shopper.ts"
import { grant } from "../../transfers/transfer-service.ts"

const database = await createDatabase()
const service = await serve({}, { database, peersPossible: true })
const otherProcess = await serve({}, { database, peersPossible: true })

const createKey = (token: string, body: Record<string, unknown> = {}, query = "") =>
  service.call("POST", `/api_keys${query}`, { token, body: { name: "shop", ...body } })
const keyOf = async (token: string, body: Record<string, unknown> = {}) => {
  const made = await createKey(token, body)
  expect(made.status).toBe(200)
  return { id: made.body.id as string, headers: { "x-api-key": made.body.api_key as string } }
}
const sensitive = { sensitive: true, current_password: password }
const transferBy = async (
  options: { headers: Record<string, string> } | { token: string },
  ownerId: string,
  through = service,
) => {
  const eid = freshId()
  await grant(service, { id: ownerId, email: "", token: "" }, eid)
  return through.call("POST", "/transfers", { ...options, body: { eid, email: "receiver@example.com" } })
}
/** Registers a user with a password and confirms the address. */
const newPerson = async () => {
  const person = await register(service)
  const token = await newestLink(service, person.email)
  await service.call("POST", "/auth/magic_link/consume", { token: person.token, body: { token } })
  return person
}
const newAdmin = async () => {
  const { email, id } = await newPerson()
  await service.sql`update app_user set role = 'Admin' where id = ${id}`
  const { body } = await login(service, email)
  return { email, id, token: body.access_token as string, refresh: body.refresh_token as string }
}

describe("an API key that was created without `sensitive`", () => {
  it("gets 403 with an instruction for transfers, checkouts, public keys and the deletion of the account", async () => {
    const person = await newPerson()
    const { headers } = await keyOf(person.token)
    const pubkey = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    const refused = [
      await transferBy({ headers }, person.id),
      await service.call("POST", "/cart/checkout", { headers, body: card }),
      await service.call("POST", `/pubkeys/${pubkey}`, { headers }),
      await service.call("DELETE", `/users/${person.id}`, { headers }),
    ]
    for (const { body, status } of refused) {
      expect([status, body.code, body.sensitive]).toEqual([403, "forbidden", true])
      expect(body.error).toContain("POST /api_keys")
    }
    expect(
      await service.sql`select 1 from entity where owner_id = ${person.id} and kind = 'transfer'`,
    ).toEqual([])
    expect((await service.call("GET", "/pubkeys", { headers })).body).not.toContain(pubkey)
  })

  it("can do other operations, and GET /api_keys shows that it is not sensitive", async () => {
    const person = await newPerson()
    const { headers, id } = await keyOf(person.token)
    expect((await service.call("GET", "/cart", { headers })).status).toBe(200)
    const { body } = await service.call("GET", "/api_keys", { token: person.token })
    expect(body).toEqual([expect.objectContaining({ id, sensitive: false })])
  })
})

describe("an API key for sensitive operations", () => {
  it("requires the password of a user without two-factor login, and then creates transfers", async () => {
    const person = await newPerson()
    const missing = await createKey(person.token, { sensitive: true })
    expect([missing.status, missing.body.fields.current_password[0].code]).toEqual([422, "required"])
    const wrong = await createKey(person.token, { sensitive: true, current_password: "a wrong one" })
    expect([wrong.status, wrong.body.fields.current_password[0].code]).toEqual([422, "invalid"])
    const { headers, id } = await keyOf(person.token, sensitive)
    expect((await transferBy({ headers }, person.id)).status).toBe(200)
    const { body } = await service.call("GET", "/api_keys", { token: person.token })
    expect(body).toEqual([expect.objectContaining({ id, sensitive: true })])
  })

  it("requires a recent code of a user with two-factor login", async () => {
    const person = await newPerson()
    const { secret } = await turnOnTotp(service, person.token)
    await endGrace(service, person.id)
    expect((await createKey(person.token, sensitive)).status).toBe(424)
    const fresh = await service.call("POST", "/auth/2fa", {
      body: { refresh_token: person.refresh, code: totpCode(secret) },
    })
    const { headers } = await keyOf(fresh.body.access_token, { sensitive: true })
    await endGrace(service, person.id)
    expect((await transferBy({ headers }, person.id)).status).toBe(200)
    expect((await transferBy({ token: fresh.body.access_token }, person.id)).status).toBe(424)
  })

  it("loses them in every process when its owner enables two-factor login, but is not deleted", async () => {
    const person = await newPerson()
    const { headers, id } = await keyOf(person.token, sensitive)
    for (const through of [service, otherProcess])
      expect((await transferBy({ headers }, person.id, through)).status).toBe(200)
    await turnOnTotp(service, person.token)
    for (const through of [otherProcess, service]) {
      expect((await transferBy({ headers }, person.id, through)).status).toBe(403)
      expect((await through.call("GET", "/cart", { headers })).status).toBe(200)
    }
    const { body } = await service.call("GET", "/api_keys", { token: person.token })
    expect(body).toEqual([expect.objectContaining({ id, sensitive: false })])
  })

  it("keeps them when its owner adds a second method, because a code was entered for the key", async () => {
    const person = await newPerson()
    await turnOnTotp(service, person.token)
    const { headers } = await keyOf(person.token, { sensitive: true })
    const phone = "+14155550123"
    await service.call("POST", "/account/2fa/enable", {
      token: person.token,
      body: { default: false, provider: "SMS", phone },
    })
    const code = (await mails(service, phone))[0]?.code
    const confirmed = await service.call("POST", "/account/2fa/confirm", {
      token: person.token,
      body: { code },
    })
    expect(confirmed.status).toBe(200)
    expect((await transferBy({ headers }, person.id)).status).toBe(200)
  })

  it("never remains sensitive without a code if it is created while two-factor login is enabled", async () => {
    const person = await newPerson()
    // No code is entered in this login. The login that enables two-factor login may create keys afterwards.
    const { body: other } = await login(service, person.email)
    const makeSome = () =>
      Promise.all(Array.from({ length: 4 }, () => createKey(other.access_token, sensitive)))
    const [made] = await Promise.all([makeSome(), turnOnTotp(service, person.token)])
    expect(made.filter(({ status }) => status !== 200 && status !== 424)).toEqual([])
    const { body } = await service.call("GET", "/api_keys", { token: person.token })
    expect(body.filter((key: { sensitive: boolean }) => key.sensitive)).toEqual([])
  })

  it("of another user can be created only by an administrator with two-factor login", async () => {
    const [admin, person] = [await newAdmin(), await newPerson()]
    const query = `?user_id=${person.id}`
    expect((await createKey(admin.token, sensitive, query)).status).toBe(403)
    expect((await createKey(admin.token, {}, query)).body.sensitive).toBe(false)
    await turnOnTotp(service, admin.token)
    expect((await createKey(admin.token, sensitive, query)).body.sensitive).toBe(true)
  })
})

describe("the scope adminUser:bypass2fa", () => {
  const scopes = ["emoji::transfer", "adminUser:bypass2fa"]

  it("belongs to no role and is not in the default scopes of a key", async () => {
    const admin = await newAdmin()
    const { body } = await service.call("GET", "/account", { token: admin.token })
    expect(body.global_scopes).not.toContain("adminUser:bypass2fa")
    const made = await createKey(admin.token)
    expect(made.body.scopes).toContain("adminUser:loginAs")
    expect(made.body.scopes).not.toContain("adminUser:bypass2fa")
  })

  it("is refused to users, and to administrators without two-factor login", async () => {
    const person = await newPerson()
    await turnOnTotp(service, person.token)
    expect((await createKey(person.token, { scopes })).status).toBe(403)
    const admin = await newAdmin()
    expect((await createKey(admin.token, { ...sensitive, scopes })).status).toBe(403)
  })

  it("lets the key of an administrator do sensitive operations if it was created with a recent code", async () => {
    const admin = await newAdmin()
    const { secret } = await turnOnTotp(service, admin.token)
    await endGrace(service, admin.id)
    expect((await createKey(admin.token, { scopes })).status).toBe(424)
    const { body } = await service.call("POST", "/auth/2fa", {
      body: { refresh_token: admin.refresh, code: totpCode(secret) },
    })
    const made = await createKey(body.access_token, { scopes })
    expect(made.body).toMatchObject({ sensitive: true, scopes: expect.arrayContaining(scopes) })
    await endGrace(service, admin.id)
    const headers = { "x-api-key": made.body.api_key }
    expect((await transferBy({ headers }, admin.id)).status).toBe(200)
  })
})

describe("a change of the password", () => {
  const change = { password: "another password", current_password: password }
  const newestMail = async (email: string) =>
    (await mails(service, email)).find(({ kind }) => kind === "security_notice")?.text ?? ""
  const works = async ({ headers }: { headers: Record<string, string> }) =>
    (await service.call("GET", "/cart", { headers })).status

  it("keeps the API keys and mails their names, ids and last use to the owner", async () => {
    const person = await newPerson()
    const used = await keyOf(person.token, { name: "my shop", ...sensitive })
    const unused = await keyOf(person.token, { name: "forgotten" })
    expect(await works(used)).toBe(200)
    const { body: keys } = await service.call("GET", "/api_keys", { token: person.token })
    const lastUse = keys[0].last_used_at
    expect(Date.parse(lastUse)).toBeGreaterThan(0)
    expect(keys[1]).not.toHaveProperty("last_used_at")

    expect((await service.call("PATCH", "/account", { token: person.token, body: change })).status).toBe(200)
    expect([await works(used), await works(unused)]).toEqual([200, 200])
    const text = await newestMail(person.email)
    expect(text).toContain("Your API keys still work.")
    expect(text).toContain(`my shop (svc_${used.id}_…), last used ${lastUse}, can do sensitive operations`)
    expect(text).toContain(`forgotten (svc_${unused.id}_…), not used yet`)
  })

  it("with `revoke_api_keys` deletes the keys in every process and mails which ones", async () => {
    const person = await newPerson()
    const key = await keyOf(person.token, { name: "my shop" })
    expect((await otherProcess.call("GET", "/cart", key)).status).toBe(200)
    const body = { ...change, revoke_api_keys: true }
    expect((await service.call("PATCH", "/account", { token: person.token, body })).status).toBe(200)
    expect(await works(key)).toBe(401)
    expect((await otherProcess.call("GET", "/cart", key)).status).toBe(401)
    expect(await newestMail(person.email)).toContain("These API keys of your account were deleted:")
  })

  it("without a new password answers 422 to `revoke_api_keys` and deletes nothing", async () => {
    const person = await newPerson()
    const key = await keyOf(person.token)
    const body = { first_name: "Ann", revoke_api_keys: true }
    const { body: answer, status } = await service.call("PATCH", "/account", { token: person.token, body })
    expect([status, answer.fields.revoke_api_keys[0].code]).toEqual([422, "needs_password"])
    expect(await works(key)).toBe(200)
  })

  it("by an administrator mails the keys, and deletes them with `revoke_api_keys`", async () => {
    const [admin, person] = [await newAdmin(), await newPerson()]
    const key = await keyOf(person.token, { name: "my shop" })
    const set = (body: Record<string, unknown>) =>
      service.call("PATCH", `/users/${person.id}`, { token: admin.token, body })
    expect((await set({ password: "another password" })).status).toBe(200)
    expect(await works(key)).toBe(200)
    expect(await newestMail(person.email)).toContain(`my shop (svc_${key.id}_…)`)
    expect((await set({ password: "a third password", revoke_api_keys: true })).status).toBe(200)
    expect(await works(key)).toBe(401)
    expect((await set({ revoke_api_keys: true })).status).toBe(422)
  })
})

describe("the migration to this release", () => {
  it("keeps sensitive operations of keys whose owner has no two-factor login, and removes bypass2fa", async () => {
    const connection = await createDatabase()
    const sql = connect({ connection, poolSize: 1, statementTimeoutMs: 30_000 })
    await sql`alter table api_key drop column sensitive, drop column last_used_at`
    await sql`drop table wrong_transfer_code`
    await sql`delete from migration where name like '0014%'`
    const users = await sql<{ id: string }[]>`
      insert into app_user (email) values ('a@example.com'), ('b@example.com') returning id`
    await sql`insert into two_factor (user_id, provider, confirmed_at) values (${users[1]!.id}, 'SMS', now())`
    for (const { id } of users)
      await sql`insert into api_key (id, user_id, name, secret_hash, scopes)
                values (${id}, ${id}, 'k', 'h', '{cart:show,adminUser:bypass2fa}')`
    await migrate(sql)
    const keys = await sql`select user_id, sensitive, scopes from api_key order by sensitive desc`
    expect(keys).toEqual([
      { user_id: users[0]!.id, sensitive: true, scopes: ["cart:show"] },
      { user_id: users[1]!.id, sensitive: false, scopes: ["cart:show"] },
    ])
    await sql`insert into api_key (id, user_id, name, secret_hash, scopes)
              values ('new', ${users[0]!.id}, 'k', 'h', '{}')`
    expect(await sql`select sensitive from api_key where id = 'new'`).toEqual([{ sensitive: false }])
    await sql.end()
  })
})
