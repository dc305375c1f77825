import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { login, mails, password, register, someEmail, totpCode, turnOnTotp } from "../person.ts"

let service: TestService
let limited: TestService
beforeAll(async () => {
  service = await serve()
  limited = await serve({ RATE_LIMIT: "on" })
})

const smsCode = async (phone: string) =>
  (await mails(service, phone)).find(({ code }) => code !== undefined)?.code ?? ""
const somePhone = () => `+1415${String(Math.floor(Math.random() * 9e6) + 1e6)}`

const turnOnSms = async (token: string) => {
  const phone = somePhone()
  const enabled = await service.call("POST", "/account/2fa/enable", {
    token,
    body: { default: true, provider: "SMS", phone },
  })
  expect(enabled.status).toBe(200)
  const confirmed = await service.call("POST", "/account/2fa/confirm", {
    token,
    body: { code: await smsCode(phone) },
  })
  expect(confirmed.status).toBe(200)
  return { phone, backupCodes: enabled.body.backup_codes as ReadonlyArray<string> }
}

it("a session cannot confirm its two-factor setup after another session enabled two-factor login", async () => {
  const owner = await register(service)
  const stranger = (await login(service, owner.email)).body
  const begun = await service.call("POST", "/account/2fa/enable", {
    token: stranger.access_token,
    body: { default: true, provider: "AuthenticatorApp" },
  })
  expect(begun.status).toBe(200)
  await turnOnSms(owner.token)
  const refused = { token: stranger.access_token, body: { disable_all: true } }
  expect((await service.call("POST", "/account/2fa/disable", refused)).status).toBe(424)

  const confirmed = await service.call("POST", "/account/2fa/confirm", {
    token: stranger.access_token,
    body: { code: totpCode(begun.body.ga_secret) },
  })
  expect(confirmed.status).toBe(424)
  expect((await service.call("POST", "/account/2fa/disable", refused)).status).toBe(424)
})

it("a backup code is rejected and stays valid if the request names a provider that is not enabled", async () => {
  const person = await register(service)
  const { backupCodes } = await turnOnTotp(service, person.token)
  const answer = await service.call("POST", "/account/2fa/backup_disable", {
    body: { email: person.email, backup_code: backupCodes[0], provider: "SMS" },
  })
  expect((await login(service, person.email)).body.requires_2fa).toBe("AuthenticatorApp")
  expect(answer.status).toBe(422)
  const [row] =
    await service.sql`select cardinality(backup_hashes) as n from two_factor where user_id = ${person.id}`
  expect(row!["n"]).toBe(10)
})

it("two logins that wait for a two-factor code can use the same Idempotency-Key independently", async () => {
  const pending = async () => {
    const person = await register(service)
    const { phone } = await turnOnSms(person.token)
    return { phone, token: (await login(service, person.email)).body.access_token as string }
  }
  const one = await pending()
  const two = await pending()
  const headers = { "idempotency-key": "1" }
  const before = (await mails(service, two.phone)).length
  const first = await service.call("POST", "/account/2fa/sms_code", { token: one.token, headers })
  expect(first.body.phone_last_digits).toBe(one.phone.slice(-4))
  const second = await service.call("POST", "/account/2fa/sms_code", { token: two.token, headers })
  expect(second.body.phone_last_digits).toBe(two.phone.slice(-4))
  expect((await mails(service, two.phone)).length).toBe(before + 1)
})

it("the last owner of an organization can neither leave the organization nor delete their account", async () => {
  const admin = await service.user({ role: "Admin" })
  const owner = await service.user()
  const { body: organization } = await service.call("POST", "/organizations", {
    token: admin.token,
    body: { name: "Octo" },
  })
  await service.call("PUT", `/organizations/${organization.id}/members/${owner.id}`, {
    token: admin.token,
    body: { role: "OrgOwner" },
  })
  const left = await service.call("DELETE", `/organizations/${organization.id}/members/${owner.id}`, {
    token: owner.token,
  })
  expect(left.status).toBe(409)
  const deleted = await service.call("DELETE", `/users/${owner.id}`, { token: owner.token })
  expect(deleted.status).toBe(409)
})

it("a login with an `alternate_id` that equals a user's email does not reset that user's rate limit", async () => {
  const victim = await register(limited)
  const stranger = { alternate_id: victim.email, password }
  expect((await limited.call("POST", "/users", { body: stranger })).status).toBe(200)
  const statuses = []
  for (let i = 0; i < 21; i++) {
    statuses.push((await login(limited, victim.email, `guess number ${i}`)).status)
    if (i % 10 === 9) await limited.call("POST", "/auth/token", { body: stranger })
  }
  expect(statuses.at(-1)).toBe(429)
})

it("an update of a user with a higher role gets 403, whether its `current_password` is right or wrong", async () => {
  const admin = await service.user({ role: "Admin" })
  const chief = await register(service)
  await service.sql`update app_user set role = 'Super' where id = ${chief.id}`
  const guess = (current_password: string) =>
    service.call("PATCH", `/users/${chief.id}`, { token: admin.token, body: { current_password } })
  expect((await guess("wrong password")).status).toBe(403)
  expect((await guess(password)).status).toBe(403)
})

describe("rate limits", () => {
  it("count the links that are requested by `user_id`, whatever the letter case of the id is", async () => {
    const person = await register(limited)
    const spell = (n: number) =>
      [...person.id].map((c, i) => (/[a-f]/.test(c) && (n >> (i % 5)) & 1 ? c.toUpperCase() : c)).join("")
    const statuses: Array<number> = []
    for (let n = 0; n < 25; n++) {
      const { status } = await limited.call("POST", "/auth/magic_link", { body: { user_id: spell(n) } })
      statuses.push(status)
    }
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(10)
  })

  it("limit the mails that email changes send to one address", async () => {
    const person = await register(limited)
    const stranger = someEmail()
    for (let n = 0; n < 15; n++) {
      for (const email of [stranger, someEmail()]) {
        await limited.call("PATCH", "/account", {
          token: person.token,
          body: { email, current_password: password },
        })
      }
    }
    expect((await mails(limited, stranger)).length).toBeLessThanOrEqual(10)
  })
})
