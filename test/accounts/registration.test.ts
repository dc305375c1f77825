import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { claimsOf, login, mails, newestLink, password, register, someEmail } from "./person.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

const post = (path: string, body: unknown, token?: string) =>
  service.call("POST", path, { body, ...(token === undefined ? {} : { token }) })
const patch = (body: unknown, token: string) => service.call("PATCH", "/account", { body, token })

describe("registering", () => {
  it("with an email and a password returns working tokens", async () => {
    const { email, refresh, token, tokens } = await register(service, { first_name: "Ada", source: "app" })
    expect(tokens.has_password).toBe(true)
    expect(tokens).not.toHaveProperty("requires_2fa")
    expect(refresh.length).toBeGreaterThan(20)
    expect(claimsOf(token).exp * 1000).toBeGreaterThan(Date.now())
    const changed = await patch({ last_name: "Byron" }, token)
    expect(changed.body.user).toMatchObject({ email, first_name: "Ada", last_name: "Byron", source: "app" })
    expect(changed.body.user).not.toHaveProperty("email_verified_at")
  })

  it("stores the email in lower case and rejects a second registration of the email with `uniqueness`", async () => {
    const email = someEmail()
    expect((await post("/users", { email: ` ${email.toUpperCase()} `, password })).status).toBe(200)
    const again = await post("/users", { email, password })
    expect(again.status).toBe(422)
    expect(again.body.fields.email[0]).toMatchObject({ code: "uniqueness", message: expect.any(String) })
    expect((await login(service, email.toUpperCase())).status).toBe(200)
  })

  it("with an `alternate_id` requires a password and is rejected if the `alternate_id` is in use", async () => {
    const alternate_id = `device-${someEmail()}`
    const without = await post("/users", { alternate_id })
    expect(without.status).toBe(422)
    expect(without.body.fields.password[0].code).toBe("required")
    expect((await post("/users", { alternate_id, password, source: "wallet" })).status).toBe(200)
    const again = await post("/users", { alternate_id, password, source: "wallet" })
    expect(again.body.fields.alternate_id[0].code).toBe("uniqueness")
    expect((await post("/auth/token", { alternate_id, password })).status).toBe(200)
  })

  it.each([
    [{}, "email", "required"],
    [{ email: "nobody", password }, "email", "invalid"],
    [{ email: "a@b\r\nBcc: c@d", password }, "email", "invalid"],
    [{ email: "short@example.com", password: "short" }, "password", "too_short"],
    [{ email: "long@example.com", password: "x".repeat(300) }, "password", "too_long"],
  ])("with the body $0 is rejected: the field $1 has the error $2", async (body, field, code) => {
    const answer = await post("/users", body)
    expect(answer.status).toBe(422)
    expect(answer.body.fields[field][0].code).toBe(code)
  })

  it("accepts null and additional fields, but ignores `role` and `free_limit`", async () => {
    const answer = await post("/users", {
      email: someEmail(),
      password,
      alternate_id: null,
      activate: true,
      activation_source: "campaign",
      partner_conversion_id: "p1",
      g_recaptcha_response: "x",
      role: "Admin",
      free_limit: 100,
    })
    expect(answer.status).toBe(200)
    const me = await patch({}, answer.body.access_token)
    expect(me.body.user).toMatchObject({ role: "User", free_limit: 1, source: "campaign" })
  })

  it("succeeds for exactly one of twenty concurrent requests with the same email", async () => {
    const email = someEmail()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post("/users", { email })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(19)
  })
})

describe("a user without a password", () => {
  it("can set a password only after using the mailed link, and then gets no more links", async () => {
    const email = someEmail()
    const { body } = await post("/users", { email })
    expect(body.has_password).toBe(false)
    const early = await patch({ password }, body.access_token)
    expect(early.status).toBe(422)
    expect(early.body.fields.password[0].code).toBe("email_unconfirmed")

    const token = await newestLink(service, email)
    const consumed = await post("/auth/magic_link/consume", { token }, body.access_token)
    expect(consumed.status).toBe(200)
    // The application that registered the user used the link itself, with its access token, so it stays logged in.
    expect((await patch({}, body.access_token)).body.user.email_verified_at).toEqual(expect.any(String))

    const set = await patch({ password }, consumed.body.access_token)
    expect(set.status).toBe(200)
    expect(set.body.token_response.has_password).toBe(true)
    expect((await login(service, email)).status).toBe(200)

    const before = (await mails(service, email)).length
    expect((await post("/auth/magic_link", { email })).body.status).toBe("Active")
    expect(await mails(service, email)).toHaveLength(before)
  })

  it("who uses a mailed link ends the session of the stranger who registered the address", async () => {
    const email = someEmail()
    const stranger = (await post("/users", { email })).body
    await post("/auth/magic_link", { email })
    const owner = (await post("/auth/magic_link/consume", { token: await newestLink(service, email) })).body
    expect((await patch({}, stranger.access_token)).status).toBe(401)
    expect((await post("/auth/token/refresh", { refresh_token: stranger.refresh_token })).status).toBe(401)
    expect((await patch({}, owner.access_token)).status).toBe(200)
  })
})

describe("an invited account", () => {
  const invite = async (email: string) => {
    const [row] = await service.sql<[{ id: string }]>`
      insert into app_user (email, invited_at) values (${email}, now()) returning id`
    return row.id
  }

  it("that owns nothing can be registered, but a password can be set only after using the mailed link", async () => {
    const email = someEmail()
    const id = await invite(email)
    const early = await post("/users", { email, password })
    expect(early.status).toBe(200)
    expect(early.body.has_password).toBe(false)
    expect(claimsOf(early.body.access_token).sub).toBe(id)
    expect((await login(service, email)).status).toBe(401)
    for (const change of [{ password }, { email: someEmail() }]) {
      expect((await patch(change, early.body.access_token)).status).toBe(422)
    }
    expect((await post("/users", { email, password })).status).toBe(422)

    const owner = (await post("/auth/magic_link/consume", { token: await newestLink(service, email) })).body
    expect((await patch({}, early.body.access_token)).status).toBe(401)
    expect((await patch({ password: "the owner's own" }, owner.access_token)).status).toBe(200)
    expect((await login(service, email, "the owner's own")).status).toBe(200)
  })

  it("gets the `alternate_id` that is sent when the account is registered", async () => {
    const email = someEmail()
    await invite(email)
    const alternate_id = `device-${email}`
    expect((await post("/users", { email, alternate_id, password })).status).toBe(200)
    const owner = (await post("/auth/magic_link/consume", { token: await newestLink(service, email) })).body
    expect((await patch({ password: "the owner's own" }, owner.access_token)).status).toBe(200)
    const byDevice = await post("/auth/token", { alternate_id, password: "the owner's own" })
    expect(byDevice.status).toBe(200)
  })

  it("that owns an id cannot be registered, and a login is possible only with the mailed link", async () => {
    const email = someEmail()
    const id = await invite(email)
    await service.sql`insert into claim (canonical, kind, holder, owner_id) values (${`x${id}`}, 'owned', ${id}, ${id})`
    const taken = await post("/users", { email, password })
    expect(taken.status).toBe(422)
    expect(taken.body.fields.email[0].code).toBe("uniqueness")
    expect((await login(service, email)).status).toBe(401)

    const consumed = await post("/auth/magic_link/consume", { token: await newestLink(service, email) })
    expect(claimsOf(consumed.body.access_token).sub).toBe(id)
    expect((await patch({ password }, consumed.body.access_token)).status).toBe(200)
  })
})

describe("changing the account", () => {
  it("requires the current password to set a new password, and then ends all earlier sessions", async () => {
    const { email, refresh, token } = await register(service)
    const other = (await login(service, email)).body
    const missing = await patch({ password: "another password" }, token)
    expect(missing.body.fields.current_password[0].code).toBe("required")
    const wrong = await patch({ password: "another password", current_password: "wrong" }, token)
    expect(wrong.status).toBe(422)
    expect(wrong.body.fields.current_password[0].code).toBe("invalid")

    const done = await patch({ password: "another password", current_password: password }, token)
    expect(done.status).toBe(200)
    for (const old of [token, other.access_token]) expect((await patch({}, old)).status).toBe(401)
    for (const old of [refresh, other.refresh_token]) {
      expect((await post("/auth/token/refresh", { refresh_token: old })).status).toBe(401)
    }
    const { token_response } = done.body
    expect((await patch({}, token_response.access_token)).status).toBe(200)
    const { status } = await post("/auth/token/refresh", { refresh_token: token_response.refresh_token })
    expect(status).toBe(200)
    expect((await login(service, email)).status).toBe(401)
    expect((await login(service, email, "another password")).status).toBe(200)
  })

  it("requires the password for a new email, and invalidates the link that was mailed to the old email", async () => {
    const { email, token } = await register(service)
    const oldLink = await newestLink(service, email)
    const next = someEmail()
    expect((await patch({ email: next }, token)).status).toBe(422)
    const done = await patch({ email: next.toUpperCase(), current_password: password }, token)
    expect(done.body.user.email).toBe(next)
    expect(done.body).not.toHaveProperty("token_response")
    expect((await post("/auth/magic_link/consume", { token: oldLink })).status).toBe(401)
    const consumed = await post("/auth/magic_link/consume", {
      token: await newestLink(service, next),
      password,
    })
    expect((await patch({}, consumed.body.access_token)).body.user.email_verified_at).toEqual(
      expect.any(String),
    )
  })

  it("rejects an email that belongs to another user", async () => {
    const [one, other] = [await register(service), await register(service)]
    const answer = await patch({ email: other.email, current_password: password }, one.token)
    expect(answer.status).toBe(422)
    expect(answer.body.fields.email[0].code).toBe("uniqueness")
  })

  it("refuses `role` and `free_limit`, and changes nothing", async () => {
    const { token } = await register(service)
    const answer = await patch({ role: "Admin", free_limit: 9, first_name: "Eve" }, token)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain("role, free_limit")
    const { user } = (await patch({}, token)).body
    expect([user.role, user.free_limit, user.first_name]).toEqual(["User", 1, undefined])
  })
})
