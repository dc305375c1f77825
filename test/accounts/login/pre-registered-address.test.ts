import { ed25519 } from "@noble/curves/ed25519.js"
import { describe, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { makeVisitor } from "../../sign-in/oauth/application.ts"
import { login, mails, newestLink, password, register, someEmail, turnOnTotp } from "../person.ts"

/** In the first group of tests, a stranger has an account with the email address of another person. */
const service = await serve()

const consume = (token: string, more: Record<string, unknown> = {}, as?: string) =>
  service.call("POST", "/auth/magic_link/consume", {
    body: { token, ...more },
    ...(as === undefined ? {} : { token: as }),
  })
const works = async (token: string) => (await service.call("GET", "/account", { token })).status === 200
const refreshes = async (refresh_token: string) =>
  (await service.call("POST", "/auth/token/refresh", { body: { refresh_token } })).status === 200
const setPassword = (token: string, next: string) =>
  service.call("PATCH", "/account", { token, body: { password: next } })

describe("the owner of an email address that a stranger uses for an account", () => {
  it("removes the stranger's password, sessions, keys and second factor with `discard_credentials`", async () => {
    const stranger = await register(service)
    const key = (
      await service.call("POST", "/api_keys", { token: stranger.token, body: { name: "a way back in" } })
    ).body.api_key
    const strangersKey = Buffer.from(ed25519.keygen().publicKey).toString("hex")
    const added = await service.call("POST", `/pubkeys/${strangersKey}`, { token: stranger.token })
    expect(added.status).toBe(200)
    await turnOnTotp(service, stranger.token)
    const useKey = () => service.call("GET", "/pubkeys", { headers: { "x-api-key": key } })
    expect((await useKey()).status).toBe(200)

    await service.call("POST", "/auth/magic_link", { body: { email: stranger.email } })
    const owner = await consume(await newestLink(service, stranger.email), { discard_credentials: true })
    expect(owner.status).toBe(200)
    expect(owner.body).toMatchObject({ has_password: false })
    expect(owner.body).not.toHaveProperty("requires_2fa")
    expect((await login(service, stranger.email)).status).toBe(401)
    expect(await works(stranger.token)).toBe(false)
    expect(await refreshes(stranger.refresh)).toBe(false)
    expect((await useKey()).status).toBe(401)
    const kept = await service.call("GET", "/pubkeys", { token: owner.body.access_token })
    expect(kept.body).toEqual([expect.not.stringContaining(strangersKey)])
    expect((await setPassword(owner.body.access_token, "the owner's own")).status).toBe(200)
    expect((await login(service, stranger.email, "the owner's own")).status).toBe(200)
  })

  it("does not inherit the stranger's API key and second factor when an admin sets a password", async () => {
    const admin = await service.user({ role: "Admin" })
    const stranger = await register(service)
    const made = await service.call("POST", "/api_keys", {
      token: stranger.token,
      body: { name: "a way back in" },
    })
    await turnOnTotp(service, stranger.token)
    const useKey = () => service.call("GET", "/pubkeys", { headers: { "x-api-key": made.body.api_key } })
    expect((await useKey()).status).toBe(200)

    const body = { password: "the owner's own" }
    expect((await service.call("PATCH", `/users/${stranger.id}`, { token: admin.token, body })).status).toBe(
      200,
    )
    const owner = await login(service, stranger.email, body.password)
    expect([owner.status, owner.body.requires_2fa]).toEqual([200, undefined])
    expect((await useKey()).status).toBe(401)
  })

  it("ends the stranger's session by using the link of the registration mail", async () => {
    const stranger = await register(service, { password: undefined })
    const owner = await consume(await newestLink(service, stranger.email))
    expect(owner.status).toBe(200)
    expect((await setPassword(stranger.token, "the stranger's own")).status).toBe(401)
    expect(await refreshes(stranger.refresh)).toBe(false)
    expect(await works(owner.body.access_token)).toBe(true)
  })

  it("can free the address and register it; the stranger's account gets its former email back", async () => {
    const stranger = await register(service)
    await consume(await newestLink(service, stranger.email), {}, stranger.token)
    const address = someEmail()
    const moved = await service.call("PATCH", "/account", {
      token: stranger.token,
      body: { email: address, current_password: password },
    })
    expect(moved.status).toBe(200)
    const released = await consume(await newestLink(service, address), { discard_credentials: true })
    expect(released.status).toBe(409)
    expect((await service.call("POST", "/users", { body: { email: address } })).status).toBe(200)
    const { body } = await service.call("GET", "/account", { token: stranger.token })
    expect(body.user).toMatchObject({ email: stranger.email, email_verified_at: expect.any(String) })
    expect((await login(service, address)).status).toBe(401)
  })
})

describe("a user who registered their own email address", () => {
  const open = async (email: string, visitor = makeVisitor(service)) => {
    const link = new URL((await mails(service, email))[0]?.link ?? "")
    return { visitor, page: await visitor.get(link.pathname + link.search) }
  }

  it("keeps the session and the password if they send the access token with the mailed link", async () => {
    const person = await register(service)
    expect((await consume(await newestLink(service, person.email), {}, person.token)).status).toBe(200)
    expect(await works(person.token)).toBe(true)
    expect((await login(service, person.email)).status).toBe(200)
  })

  it("gets 401 if the link is used with the access token of an ended session, and can use the link after a new login", async () => {
    const person = await register(service)
    await service.call("POST", "/logout", { token: person.token })
    const link = await newestLink(service, person.email)
    expect((await consume(link, {}, person.token)).status).toBe(401)
    const again = (await login(service, person.email)).body.access_token
    expect((await consume(link, {}, again)).body).toMatchObject({ has_password: true })
    expect(await works(again)).toBe(true)
  })

  const registerHere = async () => {
    const email = someEmail()
    const { body, headers } = await service.call("POST", "/users", {
      body: { email, password },
      headers: { "sec-fetch-site": "same-origin" },
    })
    const cookie = headers.getSetCookie()[0]?.split(";")[0] ?? ""
    return { email, cookie, token: body.access_token as string }
  }

  it("keeps the session without entering the password if the link is opened in the browser of the registration", async () => {
    const { cookie, email, token } = await registerHere()
    const visitor = makeVisitor(service)
    const [name = "", value = ""] = cookie.split("=")
    visitor.cookies.set(name, value)
    const { page } = await open(email, visitor)
    expect(page.text).not.toContain("password")
    expect((await visitor.submit(page, { action: "use" })).status).toBe(303)
    expect(await works(token)).toBe(true)
    expect((await login(service, email)).status).toBe(200)
  })

  it("keeps the session and the password if POST /auth/magic_link/consume gets the cookie of the registration", async () => {
    const { cookie, email, token } = await registerHere()
    const used = await service.call("POST", "/auth/magic_link/consume", {
      body: { token: await newestLink(service, email) },
      headers: { cookie },
    })
    expect(used.body.has_password).toBe(true)
    expect(await works(token)).toBe(true)
  })

  it("keeps the session if the link is opened in another browser and the password is entered, even after a wrong attempt", async () => {
    const person = await register(service)
    const { page, visitor } = await open(person.email)
    const wrong = await visitor.submit(page, { action: "password", password: "a wrong one" })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain("The password is wrong.")
    expect((await visitor.submit(wrong, { action: "password", password })).status).toBe(303)
    expect(await works(person.token)).toBe(true)
    expect((await login(service, person.email)).status).toBe(200)
  })

  it("can discard a forgotten password, and the page then offers to set a new password", async () => {
    const person = await register(service)
    const { page, visitor } = await open(person.email)
    expect((await visitor.submit(page, { action: "discard" })).status).toBe(303)
    expect((await visitor.get("/magic_link/done")).text).toContain("Do you want a password?")
    expect((await login(service, person.email)).status).toBe(401)
  })

  it("gets no cookie for the browser if another site submitted the registration", async () => {
    const answer = await service.call("POST", "/users", {
      body: { email: someEmail(), password },
      headers: { "sec-fetch-site": "cross-site" },
    })
    expect(answer.headers.getSetCookie()).toEqual([])
  })
})
