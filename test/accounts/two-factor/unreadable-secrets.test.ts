import { beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { login, mails, register } from "../person.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

const undecryptable = `v1.gone.${"A".repeat(80)}.${"A".repeat(38)}`

it("a phone number that cannot be decrypted is reported as `unreadable`, and a login can still begin", async () => {
  const { email, token } = await register(service)
  const phone = "+14155550177"
  await service.call("POST", "/account/2fa", { body: { default: true, provider: "SMS", phone }, token })
  const [mail] = await mails(service, phone)
  await service.call("POST", "/account/2fa/confirm", { body: { code: mail?.code }, token })
  await service.sql`update two_factor set sealed_phone = ${undecryptable} where provider = 'SMS'`

  const waiting = await login(service, email)
  expect(waiting.status).toBe(200)
  expect(waiting.body.requires_2fa).toBe("SMS")
  const response = await service.call("POST", "/account/2fa/sms_code", { token })
  expect(response.status).toBe(422)
  expect(response.body.fields.phone).toEqual([
    {
      code: "unreadable",
      message: "The stored phone number cannot be read. Contact support to have it removed.",
    },
  ])
})

it("a mail that cannot be decrypted does not hide the other mails in the outbox", async () => {
  const { email } = await register(service)
  const before = await mails(service, email)
  expect(before.length).toBeGreaterThan(0)
  await service.sql`insert into outbox (recipient, kind, payload) values (${email}, 'magic_link', ${undecryptable})`
  expect(await mails(service, email)).toEqual(before)
})
