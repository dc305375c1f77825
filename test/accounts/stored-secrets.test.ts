import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import {
  claimsOf,
  login,
  mails,
  newestLink,
  password,
  register,
  someEmail,
  totpCode,
  turnOnTotp,
} from "./person.ts"

it("a dump of all tables contains no password, token, secret or code", async () => {
  const service = await serve()
  const post = (path: string, body: unknown, token?: string) =>
    service.call("POST", path, { body, ...(token === undefined ? {} : { token }) })

  const person = await register(service)
  const confirmLink = await newestLink(service, person.email)
  const { backupCodes, secret } = await turnOnTotp(service, person.token)
  const phone = "+14155550199"
  const sms = await post("/account/2fa/enable", { default: false, provider: "SMS", phone }, person.token)
  const setupCode = (await mails(service, phone))[0]?.code ?? ""
  await post("/account/2fa/confirm", { code: setupCode }, person.token)
  const sent = await service.call("POST", "/account/2fa/sms_code", { token: person.token })
  expect(sent.status).toBe(200)
  const smsCode = (await mails(service, phone))[0]?.code ?? ""
  const pending = (await login(service, person.email)).body
  const totp = totpCode(secret)
  const done = (await post("/auth/2fa", { refresh_token: pending.refresh_token, code: totp })).body
  const rotated = (await post("/auth/token/refresh", { refresh_token: done.refresh_token })).body
  const mailed = someEmail()
  await post("/users", { email: mailed })
  await post("/auth/magic_link", { email: mailed })
  const loginLink = await newestLink(service, mailed)

  const tables = await service.sql<Array<{ name: string }>>`
    select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`
  let dump = ""
  for (const { name } of tables) {
    const rows = await service.sql`select t::text as row from ${service.sql(name)} t`
    dump += `${name}\n${rows.map(({ row }) => row).join("\n")}\n`
  }
  expect(dump).toContain(person.email)

  const mac = (refreshToken: string) => refreshToken.split(".")[3] ?? ""
  const secrets = {
    password,
    secret,
    confirmLink,
    loginLink,
    access: done.access_token,
    pendingAccess: pending.access_token,
    refresh: mac(person.refresh),
    pendingRefresh: mac(pending.refresh_token),
    rotatedRefresh: mac(rotated.refresh_token),
    ...Object.fromEntries(
      [...backupCodes, ...sms.body.backup_codes].map((code: string, i) => [`backup${i}`, code]),
    ),
  }
  for (const [name, value] of Object.entries(secrets)) {
    expect(value.length, name).toBeGreaterThan(7)
    expect(dump.includes(value), name).toBe(false)
    expect(dump.includes(Buffer.from(value).toString("base64url")), `${name} in base64`).toBe(false)
    expect(dump.includes(Buffer.from(value).toString("hex")), `${name} in hex`).toBe(false)
  }
  // The six digits of a code may occur by chance inside a longer number. Only a separate word is an error.
  for (const code of [setupCode, smsCode, totp]) {
    expect(code).toMatch(/^\d{6}$/)
    expect(dump).not.toMatch(new RegExp(`(?<![\\w.+-])${code}(?![\\w.-])`))
  }
  expect(claimsOf(done.access_token).sub).toBe(person.id)
})

it("after the encryption key was removed, a right two-factor code gets the same error as a wrong code", async () => {
  const service = await serve()
  const person = await register(service)
  const { secret } = await turnOnTotp(service, person.token)
  await service.sql`update pubkey set sealed_key = null`
  const SECRET_KEYS = `new:${Buffer.alloc(32, 8).toString("base64url")}`
  const after = await serve({ SECRET_KEYS }, { database: service.database })
  const { refresh_token } = (await login(after, person.email)).body
  const answer = (code: string) => after.call("POST", "/auth/2fa", { body: { refresh_token, code } })
  const [right, wrong] = [await answer(totpCode(secret)), await answer("000000")]
  expect([right.status, right.body.error]).toEqual([wrong.status, wrong.body.error])
  expect(right.status).toBe(401)
})
