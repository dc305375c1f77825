import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"
import { login, register, totpCode } from "./person.ts"

const service = await serve()

it("a set-up begun anew while the code of the one before is checked is not turned on by that code", async () => {
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
