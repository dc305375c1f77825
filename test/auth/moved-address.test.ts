import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { newestLink, register, someEmail, totpCode, turnOnTotp } from "./person.ts"

const service = await serve()

const logInByLink = async (email: string) => {
  await service.call("POST", "/auth/magic_link", { body: { email } })
  const token = await newestLink(service, email)
  return (await service.call("POST", "/auth/magic_link/consume", { body: { token } })).body
}

it("who reads the mail of a new address still needs the second factor of the account that moved there", async () => {
  const admin = await service.user({ role: "Admin" })
  const { email, id } = await register(service, { password: undefined })
  const { access_token: token } = await logInByLink(email)
  const { secret } = await turnOnTotp(service, token)
  const wallet = await service.call("POST", "/pubkeys", { token })
  const address = someEmail()
  const moved = await service.call("PATCH", `/users/${id}`, { token: admin.token, body: { email: address } })
  expect(moved.status).toBe(200)

  const pending = await logInByLink(address)
  expect(pending.requires_2fa).toBe("AuthenticatorApp")
  const code = totpCode(secret)
  const verified = await service.call("POST", "/auth/2fa", {
    body: { refresh_token: pending.refresh_token, code },
  })
  expect(verified.status).toBe(200)
  const keys = await service.call("GET", "/pubkeys", { token: verified.body.access_token })
  expect(keys.body).toContain(wallet.body)
})
