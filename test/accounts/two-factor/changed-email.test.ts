import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { login, newestLink, password, register, someEmail, totpCode, turnOnTotp } from "../person.ts"

const service = await serve()

const logInByLink = async (email: string) => {
  await service.call("POST", "/auth/magic_link", { body: { email } })
  const token = await newestLink(service, email)
  return (await service.call("POST", "/auth/magic_link/consume", { body: { token } })).body
}

it("a login with a link that is mailed to a changed email still requires the second factor", async () => {
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

it("a user without a password can change an unconfirmed email only back to the confirmed email", async () => {
  const { email } = await register(service, { password: undefined })
  const { access_token: token } = await logInByLink(email)
  const move = (address: string) => service.call("PATCH", "/account", { token, body: { email: address } })
  const mistyped = someEmail()
  expect((await move(mistyped)).status).toBe(200)
  expect((await move(someEmail())).body.fields).toMatchObject({ email: [{ code: "email_unconfirmed" }] })

  expect((await move(email)).status).toBe(200)
  const stranger = await service.call("POST", "/auth/magic_link/consume", {
    body: { token: await newestLink(service, mistyped) },
  })
  expect(stranger.status).toBe(401)
  const back = await logInByLink(email)
  const { body } = await service.call("GET", "/account", { token: back.access_token })
  expect(body.user).toMatchObject({ email, email_verified_at: expect.any(String) })
})

it("a user without a password cannot undo an email change that an administrator made", async () => {
  const admin = await service.user({ role: "Admin" })
  const { email, id } = await register(service, { password: undefined })
  const { access_token: token } = await logInByLink(email)
  await service.call("PATCH", `/users/${id}`, { token: admin.token, body: { email: someEmail() } })
  const undone = await service.call("PATCH", "/account", { token, body: { email } })
  expect(undone.body.fields).toMatchObject({ email: [{ code: "email_unconfirmed" }] })
})

/** Creates an account that changed from its confirmed address to an unconfirmed address. */
const moveAway = async () => {
  const person = await register(service)
  const proven = { token: await newestLink(service, person.email), password }
  await service.call("POST", "/auth/magic_link/consume", { body: proven })
  const address = someEmail()
  const moved = await service.call("PATCH", "/account", {
    token: person.token,
    body: { email: address, current_password: password },
  })
  expect(moved.status).toBe(200)
  return { ...person, address, link: await newestLink(service, address) }
}

const consume = (token: string, more: Record<string, unknown> = {}) =>
  service.call("POST", "/auth/magic_link/consume", { body: { token, ...more } })

it("if the former email is not stored, a changed email is confirmed only with the password", async () => {
  const { address, id, link } = await moveAway()
  await service.sql`update app_user set proven_email = null where id = ${id}`

  const unshown = await consume(link, { discard_credentials: true })
  expect(unshown.status).toBe(422)
  expect(unshown.body.fields).toMatchObject({ password: [{ code: "required" }] })
  expect((await login(service, address)).status).toBe(200)
  expect((await consume(link, { password })).status).toBe(200)
  const [row] =
    await service.sql`select email_verified_at is not null as proven from app_user where id = ${id}`
  expect(row).toEqual({ proven: true })
})

it("a stranger who receives the link because the user mistyped a new email cannot log in to the user's account", async () => {
  const alternate_id = `device-${someEmail()}`
  const body = { email: undefined, alternate_id, password, source: "app" }
  const { id, token } = await register(service, body)
  const { secret } = await turnOnTotp(service, token)
  const address = someEmail()
  const given = await service.call("PATCH", "/account", {
    token,
    body: { email: address, current_password: password },
  })
  expect(given.status).toBe(200)

  expect((await consume(await newestLink(service, address), { discard_credentials: true })).status).toBe(409)
  expect((await service.call("GET", "/account", { token })).body.user).not.toHaveProperty("email")
  const again = await service.call("POST", "/auth/token", { body: { alternate_id, password } })
  expect(again.body).toMatchObject({ requires_2fa: "AuthenticatorApp" })
  const code = totpCode(secret)
  const refresh_token = again.body.refresh_token
  const verified = await service.call("POST", "/auth/2fa", { body: { refresh_token, code } })
  expect(verified.status).toBe(200)
  expect((await register(service, { email: address })).id).not.toBe(id)
})

it("if the former email is not stored, using the link with neither `password` nor `discard_credentials` gets 422, and the password stays valid", async () => {
  const buyer = await moveAway()
  await service.sql`update app_user set proven_email = null where id = ${buyer.id}`

  expect((await consume(buyer.link)).status).toBe(422)
  expect((await login(service, buyer.address)).status).toBe(200)
})
