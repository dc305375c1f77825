import { describe, expect, it } from "vitest"
import {
  login,
  mails,
  newestLink,
  password,
  register,
  someEmail,
  totpCode,
  turnOnTotp,
} from "../../accounts/person.ts"
import { serve } from "../../fixtures/service.ts"
import {
  authorizeAddress,
  locationOf,
  makeVisitor,
  registerApplication,
} from "../../sign-in/oauth/application.ts"
import {
  confirmedUser,
  confirmReset,
  newPassword,
  requestReset,
  resetLink,
  resetToken,
} from "./reset-link.ts"

const service = await serve({}, { peersPossible: true })
const works = async (token: string) => (await service.call("GET", "/account", { token })).status === 200
const kindsOf = async (email: string) => (await mails(service, email)).map(({ kind }) => kind)
const withoutId = (answer: { readonly status: number; readonly body: object }) => ({
  status: answer.status,
  body: { ...answer.body, request_id: "" },
})

describe("a password reset", () => {
  it("sets the new password with the mailed token, ends the other sessions and mails a notice", async () => {
    const person = await confirmedUser(service)
    const done = await confirmReset(service, await resetToken(service, person.email))
    expect(done.status).toBe(200)
    expect(done.headers.get("cache-control")).toBe("no-store")
    expect(await works(done.body.access_token)).toBe(true)
    expect(await works(person.token)).toBe(false)
    expect((await login(service, person.email)).status).toBe(401)
    expect((await login(service, person.email, newPassword)).status).toBe(200)
    const [notice, reset] = await mails(service, person.email)
    expect([notice?.kind, reset?.kind]).toEqual(["security_notice", "password_reset"])
    expect(notice?.text).toContain("the password of your account was changed")
  })

  it("keeps API keys, as a password change does", async () => {
    const person = await confirmedUser(service)
    const key = await service.call("POST", "/api_keys", {
      token: person.token,
      body: { name: "kept", scopes: ["cart:show"] },
    })
    await confirmReset(service, await resetToken(service, person.email))
    const shown = await service.call("GET", "/cart", { headers: { "x-api-key": key.body.api_key } })
    expect(shown.status).toBe(200)
  })

  it("happens once if twenty concurrent requests send the same token", async () => {
    const { email } = await confirmedUser(service)
    const token = await resetToken(service, email)
    const answers = await Promise.all(Array.from({ length: 20 }, () => confirmReset(service, token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19)
    expect((await kindsOf(email)).filter((kind) => kind === "security_notice")).toHaveLength(1)
  })

  it("is refused with 422 for a password that is too short, and the link can be used again", async () => {
    const { email } = await confirmedUser(service)
    const token = await resetToken(service, email)
    const short = await confirmReset(service, token, "short")
    expect(short.status).toBe(422)
    expect(short.body.fields.password[0].code).toBe("too_short")
    expect((await confirmReset(service, token)).status).toBe(200)
  })

  it("still requires the two-factor code, and two-factor authentication stays enabled", async () => {
    const person = await confirmedUser(service)
    const { secret } = await turnOnTotp(service, person.token)
    const done = await confirmReset(service, await resetToken(service, person.email))
    expect(done.body.requires_2fa).toBe("AuthenticatorApp")
    expect(await works(done.body.access_token)).toBe(false)
    const refreshed = await service.call("POST", "/auth/token/refresh", {
      body: { refresh_token: done.body.refresh_token },
    })
    expect(refreshed.body.requires_2fa).toBe("AuthenticatorApp")
    const verified = await service.call("POST", "/auth/2fa", {
      body: { refresh_token: refreshed.body.refresh_token, code: totpCode(secret) },
    })
    expect(await works(verified.body.access_token)).toBe(true)
  })
})

describe("a link that resets a password", () => {
  it("is rejected if it is forged, expired, used, a login link, or sent before a later password change", async () => {
    const [late, changed] = [await confirmedUser(service), await confirmedUser(service)]
    const expired = await resetToken(service, late.email)
    await service.sql`update magic_link set expires_at = now() where email = ${late.email}`
    const outdated = await resetToken(service, changed.email)
    const patched = await service.call("PATCH", "/account", {
      token: changed.token,
      body: { password: "another password", current_password: password },
    })
    expect(patched.status).toBe(200)
    const email = someEmail()
    await service.call("POST", "/users", { body: { email } })
    for (const token of ["", "A".repeat(43), expired, outdated, await newestLink(service, email)])
      expect((await confirmReset(service, token)).status).toBe(401)
    expect((await login(service, late.email)).status).toBe(200)
    expect((await login(service, changed.email, "another password")).status).toBe(200)
  })

  it("makes the other links of the account invalid when it is used", async () => {
    const { email } = await confirmedUser(service)
    const [first, second] = [await resetToken(service, email), await resetToken(service, email)]
    expect((await confirmReset(service, second)).status).toBe(200)
    expect((await confirmReset(service, first)).status).toBe(401)
  })

  it("is rejected after the account was deactivated, or after its email address was changed", async () => {
    const [off, moved] = [await confirmedUser(service), await confirmedUser(service)]
    const tokens = [await resetToken(service, off.email), await resetToken(service, moved.email)]
    await service.sql`update app_user set deactivated_at = now() where id = ${off.id}`
    const patched = await service.call("PATCH", "/account", {
      token: moved.token,
      body: { email: someEmail(), current_password: password },
    })
    expect(patched.status).toBe(200)
    for (const token of tokens) expect((await confirmReset(service, token)).status).toBe(401)
  })

  it("cannot be used to log in by magic link", async () => {
    const { email } = await confirmedUser(service)
    const token = await resetToken(service, email)
    const used = await service.call("POST", "/auth/magic_link/consume", { body: { token, password } })
    expect(used.status).toBe(401)
  })
})

describe("the request for a reset", () => {
  it("gets the same response for known, unknown, unconfirmed, passwordless and deactivated accounts", async () => {
    const [known, unconfirmed, off] = [
      await confirmedUser(service),
      await register(service),
      await confirmedUser(service),
    ]
    await service.sql`update app_user set deactivated_at = now() where id = ${off.id}`
    const passwordless = someEmail()
    await service.call("POST", "/users", { body: { email: passwordless } })
    const answers = []
    for (const email of [known.email, unconfirmed.email, off.email, passwordless, someEmail()])
      answers.push(withoutId(await requestReset(service, email)))
    expect(answers[0]).toMatchObject({ status: 200, body: { message: expect.any(String) } })
    for (const answer of answers) expect(answer).toEqual(answers[0])
  })

  it("mails a confirmation link to an unconfirmed address and a login link to an account without a password", async () => {
    const unconfirmed = await register(service)
    const passwordless = await service.user()
    const off = await confirmedUser(service)
    await service.sql`update app_user set deactivated_at = now() where id = ${off.id}`
    for (const { email } of [unconfirmed, passwordless, off]) await requestReset(service, email)
    expect(await kindsOf(unconfirmed.email)).toEqual(["confirm_email", "confirm_email"])
    expect(await kindsOf(passwordless.email)).toEqual(["magic_link"])
    expect((await kindsOf(off.email)).filter((kind) => kind !== "confirm_email")).toEqual([])
  })

  it("is rejected without an email and with a redirect that is not a path of this site", async () => {
    expect((await service.call("POST", "/auth/password_reset", { body: {} })).status).toBe(400)
    expect((await requestReset(service, " ")).status).toBe(400)
    expect((await requestReset(service, someEmail(), { redirect: "https://evil.example" })).status).toBe(400)
  })
})

describe("the rate limit of reset mails", () => {
  it("allows ten mails to an address, and requests for login links do not use it up", async () => {
    const limited = await serve({ RATE_LIMIT: "on" })
    const { email } = await confirmedUser(limited)
    for (let i = 0; i < 11; i++) await limited.call("POST", "/auth/magic_link", { body: { email } })
    const unknown = someEmail()
    for (const address of [email, unknown]) {
      const statuses = []
      for (let i = 0; i < 11; i++) statuses.push((await requestReset(limited, address)).status)
      expect(statuses).toEqual([...Array(10).fill(200), 429])
    }
    // The owner has the links of the ten mails, and each of them works.
    const links = (await mails(limited, email)).filter(({ kind }) => kind === "password_reset")
    expect(links).toHaveLength(10)
    const token = new URL(links.at(-1)?.link ?? "").searchParams.get("token") ?? ""
    expect((await confirmReset(limited, token)).status).toBe(200)
  })
})

describe("the pages of a reset", () => {
  it("ask for the email, mail a link, and show a form that does not use the link up until it is sent", async () => {
    const person = await confirmedUser(service)
    const visitor = makeVisitor(service)
    const asked = await visitor.submit(await visitor.get("/password_reset"), { email: person.email })
    expect([asked.status, asked.text.includes("Check your email")]).toEqual([200, true])
    const link = await resetLink(service, person.email)
    const path = `${link.pathname}${link.search}`
    await visitor.get(path)
    const form = await visitor.get(path)
    expect(form.text).toContain(person.email)
    const refused = await visitor.submit(form, { password: "short" })
    expect([refused.status, refused.text.includes("at least 8 characters")]).toEqual([422, true])
    const done = await visitor.submit(refused, { password: newPassword })
    expect([done.status, locationOf(done).pathname]).toEqual([303, "/password_reset/done"])
    expect((await visitor.get("/password_reset/done")).text).toContain("Your password was changed")
    expect((await login(service, person.email, newPassword)).status).toBe(200)
    const again = await visitor.get(path)
    expect([again.status, again.text.includes("no longer valid"), again.text.includes('href="/"')]).toEqual([
      400,
      true,
      true,
    ])
  })

  it("show the same text for an unknown address, and an error for a text that is no address", async () => {
    const visitor = makeVisitor(service)
    const email = someEmail()
    const asked = await visitor.submit(await visitor.get("/password_reset"), { email })
    expect(asked.text).toContain(`If <strong>${email}</strong> belongs to an account`)
    const wrong = await visitor.submit(await visitor.get("/password_reset"), { email: "nobody" })
    expect(wrong.status).toBe(422)
  })

  it("can be reached from the login page of an application, and the link leads back to the application", async () => {
    const { email } = await confirmedUser(service)
    const app = await registerApplication(service, "https://octo.example/callback")
    const visitor = makeVisitor(service)
    const asked = await visitor.submit(await visitor.get(authorizeAddress(app)), { action: "reset", email })
    expect(locationOf(asked).searchParams.get("status")).toBe("pending_magic_link")
    const link = await resetLink(service, email)
    const form = await visitor.get(`${link.pathname}${link.search}`)
    const done = await visitor.submit(form, { password: newPassword })
    expect(locationOf(done).pathname).toBe("/authorize")
    expect(locationOf(done).searchParams.get("client_id")).toBe(app.clientId)
    expect(locationOf(done).searchParams.has("token")).toBe(false)
  })

  it("refuse a form without the token of its page", async () => {
    const { email } = await confirmedUser(service)
    const visitor = makeVisitor(service)
    const link = new URL(`${service.url}/password_reset?token=${await resetToken(service, email)}`)
    const form = await visitor.get(`${link.pathname}${link.search}`)
    const forged = await visitor.submit(form, { password: newPassword }, { form_token: "forged" })
    expect(forged.status).toBe(403)
    expect((await login(service, email)).status).toBe(200)
  })

  it("ask for the two-factor code after the new password, then continue at the link's redirect", async () => {
    const person = await confirmedUser(service)
    const { secret } = await turnOnTotp(service, person.token)
    await requestReset(service, person.email, { redirect: "/#/sign-in/browser" })
    const link = await resetLink(service, person.email)
    const visitor = makeVisitor(service)
    const form = await visitor.get(`${link.pathname}${link.search}`)
    const asked = await visitor.submit(form, { password: newPassword })
    expect(locationOf(asked).pathname).toBe("/magic_link/code")
    const code = await visitor.get(asked.headers.get("location") ?? "")
    const done = await visitor.submit(code, { action: "code", code: totpCode(secret) })
    expect(done.headers.get("location")).toBe("/#/sign-in/browser")
  })
})

describe("a new email address of an account without a password", () => {
  it("is confirmed by the mailed link alone, because there is no password to ask for", async () => {
    const user = await service.user()
    const email = someEmail()
    const changed = await service.call("PATCH", "/account", { token: user.token, body: { email } })
    expect(changed.status).toBe(200)
    const token = await newestLink(service, email)
    const visitor = makeVisitor(service)
    const page = await visitor.get(`/magic_link?refresh_token=${token}`)
    expect(page.text).not.toContain('name="password"')
    const used = await service.call("POST", "/auth/magic_link/consume", { body: { token } })
    expect(used.status).toBe(200)
    const { body } = await service.call("GET", "/account", { token: used.body.access_token })
    expect(body.user.email_verified_at).toBeDefined()
  })
})
