import { expect, it } from "vitest"
import { expectAnswer } from "../../fixtures/contract.ts"
import { serve } from "../../fixtures/service.ts"
import { mails, password, sendPreviousTotpCode, someEmail, totpCode } from "../person.ts"

it("all responses of registration, login and two-factor authentication match the API contract", async () => {
  const service = await serve()
  const answered = async (method: string, path: string, body: unknown, token?: string) => {
    const answer = await service.call(method, path, { body, ...(token === undefined ? {} : { token }) })
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(200)
    expectAnswer(method, path, answer.body)
    return answer.body
  }
  const email = someEmail()
  const phone = "+14155550142"
  const totp = { default: true, provider: "AuthenticatorApp", phone: null }

  const { access_token: token } = await answered("POST", "/users", { email, password })
  await answered("POST", "/auth/magic_link", { email, redirect: null, user_id: null })
  await answered("PATCH", "/account", { first_name: "Ada", password: null }, token)
  const { ga_secret } = await answered("POST", "/account/2fa/enable", totp, token)
  const confirm = "/account/2fa/confirm"
  const confirmed = await sendPreviousTotpCode(ga_secret, (code) =>
    service.call("POST", confirm, { body: { code }, token }),
  )
  expectAnswer("POST", confirm, confirmed.body)
  await answered("POST", "/account/2fa/enable", { default: false, provider: "SMS", phone }, token)
  await answered("POST", "/account/2fa/sms_code", null, token)
  const code = (await mails(service, phone))[0]?.code
  await answered("POST", "/account/2fa/confirm", { code }, token)

  const pending = await answered("POST", "/auth/token", { email, password, alternate_id: null })
  const refreshed = await answered("POST", "/auth/token/refresh", { refresh_token: pending.refresh_token })
  const { refresh_token } = refreshed
  const verified = await answered("POST", "/auth/2fa", { refresh_token, code: totpCode(ga_secret) })
  const changed = await answered(
    "PATCH",
    "/account",
    { password: "another password", current_password: password },
    verified.access_token,
  )
  const last = changed.token_response.access_token
  await answered("POST", "/account/2fa/disable", { disable_all: false, provider: "SMS" }, last)
  await answered("POST", "/account/2fa/disable", { disable_all: true }, last)
  const again = await service.call("POST", "/account/2fa", { token: last, body: totp })
  await answered("POST", "/account/2fa/confirm", { code: totpCode(again.body.ga_secret) }, last)
  await answered("POST", "/account/2fa/backup_disable", { backup_code: again.body.backup_codes[0] }, last)
  await answered("POST", "/logout", null, last)
})

it("GET /account returns `Cache-Control: no-store`, even if the service has cached the response", async () => {
  const service = await serve()
  const { token } = await service.user()
  for (const how of ["read", "from memory"]) {
    const { headers } = await service.call("GET", "/account", { token })
    expect([how, headers.get("cache-control")]).toEqual([how, "no-store"])
  }
})
