import { beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { login, mails, register } from "../person.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

const givenUp = `v1.gone.${"A".repeat(80)}.${"A".repeat(38)}`

it("a phone whose key was given up is said to be unreadable, and does not keep its user from the login", async () => {
  const { email, token } = await register(service)
  const phone = "+14155550177"
  await service.call("POST", "/account/2fa", { body: { default: true, provider: "SMS", phone }, token })
  const [mail] = await mails(service, phone)
  await service.call("POST", "/account/2fa/confirm", { body: { code: mail?.code }, token })
  await service.sql`update two_factor set sealed_phone = ${givenUp} where provider = 'SMS'`

  const waiting = await login(service, email)
  expect(waiting.status).toBe(200)
  expect(waiting.body.requires_2fa).toBe("SMS")
  const asked = await service.call("POST", "/account/2fa/sms_code", { token })
  expect(asked.status).toBe(422)
  expect(asked.body.fields.phone).toEqual([
    { code: "unreadable", message: "The phone can no longer be read here. Support can take it off." },
  ])
})

it("a letter whose key was given up hides none of the others", async () => {
  const { email } = await register(service)
  const before = await mails(service, email)
  expect(before.length).toBeGreaterThan(0)
  await service.sql`insert into outbox (recipient, kind, payload) values (${email}, 'magic_link', ${givenUp})`
  expect(await mails(service, email)).toEqual(before)
})
