import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { waiting } from "../../fixtures/waiting.ts"
import { login, mails, register, totpCode } from "../person.ts"

const service = await serve()

it("the code of an earlier two-factor setup is rejected if the setup restarts during the check", async () => {
  const { email, token } = await register(service)
  const enable = () =>
    service.call("POST", "/account/2fa/enable", {
      token,
      body: { default: true, provider: "AuthenticatorApp" },
    })
  const first = (await enable()).body.ga_secret
  const [before] = await service.sql`select sealed_secret from two_factor`
  const second = (await enable()).body.ga_secret
  const [after] = await service.sql`select sealed_secret from two_factor`
  await service.sql`update two_factor set sealed_secret = ${before?.["sealed_secret"]}`
  let confirming: ReturnType<typeof service.call> | undefined
  await service.sql.begin(async (sql) => {
    await sql`update two_factor set sealed_secret = ${after?.["sealed_secret"]}`
    confirming = service.call("POST", "/account/2fa/confirm", { token, body: { code: totpCode(first) } })
    await expect.poll(() => waiting(service)).not.toHaveLength(0)
  })
  expect((await confirming)?.status).toBe(422)
  expect((await login(service, email)).body).not.toHaveProperty("requires_2fa")
  const confirmed = await service.call("POST", "/account/2fa/confirm", {
    token,
    body: { code: totpCode(second) },
  })
  expect(confirmed.status).toBe(200)
})

const enableSms = (token: string, phone: string) =>
  service.call("POST", "/account/2fa/enable", { token, body: { default: true, provider: "SMS", phone } })

it("no code is sent to a phone number that is replaced while the code is requested", async () => {
  const { id, token } = await register(service)
  await enableSms(token, "+14155550101")
  let sending: ReturnType<typeof service.call> | undefined
  await service.sql.begin(async (sql) => {
    await sql`update two_factor set sealed_phone = 'another' where user_id = ${id}`
    sending = service.call("POST", "/account/2fa/sms_code", { token })
    await expect.poll(() => waiting(service)).not.toHaveLength(0)
  })
  expect((await sending)?.status).toBe(422)
  expect(await mails(service, "+14155550101")).toHaveLength(1)
})

it("an SMS setup stores no phone number if the account is deleted at the same time", async () => {
  const { id, token } = await register(service)
  let enabling: ReturnType<typeof service.call> | undefined
  await service.sql.begin(async (sql) => {
    await sql`select 1 from app_user where id = ${id} for update`
    enabling = enableSms(token, "+14155550102")
    await expect.poll(() => waiting(service)).not.toHaveLength(0)
    await sql`select delete_user(${id}, true, '{User}')`
  })
  expect((await enabling)?.status).toBe(422)
  expect(await service.sql`select 1 from two_factor where user_id = ${id}`).toHaveLength(0)
  expect(await mails(service, "+14155550102")).toHaveLength(0)
})
