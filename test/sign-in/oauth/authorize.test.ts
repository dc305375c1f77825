import { describe, expect, it } from "vitest"
import { password, register, someEmail, totpCode, turnOnTotp } from "../../accounts/person.ts"
import { serveDirectory } from "../../directory/directory-service.ts"
import {
  authorizeAddress,
  locationOf,
  makeVisitor,
  newestMailLink,
  registerApplication,
  tokenCall,
} from "./application.ts"
import { startOauthService } from "./oauth-service.ts"

const { service, app, owner, loggedIn, exchange } = await startOauthService()

describe("the authorization page", () => {
  it("shows a login form to a browser without a cookie, and redirects to the application after it has emailed a link", async () => {
    const user = await owner(2)
    const visitor = makeVisitor(service)
    const page = await visitor.get(authorizeAddress(app))
    expect(page.status).toBe(200)
    expect(page.text).toContain('type="email"')
    const answer = await visitor.submit(page, { action: "link", email: user.email })
    expect(answer.status).toBe(302)
    const back = locationOf(answer)
    expect(`${back.origin}${back.pathname}`).toBe("https://app.example/callback")
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      tenant: "7",
      status: "pending_magic_link",
      state: "s-1",
    })
  })

  it("also redirects with the status `pending_magic_link` for an unknown email address, but sends no mail", async () => {
    const visitor = makeVisitor(service)
    const answer = await visitor.submit(await visitor.get(authorizeAddress(app)), {
      action: "link",
      email: "unknown-user@example.com",
    })
    expect(locationOf(answer).searchParams.get("status")).toBe("pending_magic_link")
    expect(await newestMailLink(service, "unknown-user@example.com")).toBe("")
  })

  it("emails a link with the parameters of the request, and the link works until its button is pressed", async () => {
    const user = await owner(2)
    const visitor = makeVisitor(service)
    await visitor.submit(await visitor.get(authorizeAddress(app)), { action: "link", email: user.email })
    const link = new URL(await newestMailLink(service, user.email))
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      state: "s-1",
      scope: "svc",
    })
    const path = link.pathname + link.search
    const page = await visitor.get(path)
    expect(page.text).toContain(user.email)
    // Mail scanners open links repeatedly. The link must still work afterwards.
    expect((await visitor.get(path)).status).toBe(200)
    const answer = await visitor.submit(page, { action: "use" })
    expect(answer.status).toBe(303)
    expect(answer.headers.getSetCookie().join()).toMatch(/svc_session=.*HttpOnly; SameSite=Lax/)
    const selector = await visitor.get(locationOf(answer).pathname + locationOf(answer).search)
    for (const id of user.ids) expect(selector.text).toContain(id)
    expect((await visitor.get(path)).status).toBe(400)
  })

  it("redirects with the state, the issuer and a code that gives access to the chosen id only", async () => {
    const user = await owner(3)
    const visitor = await loggedIn(user)
    const page = await visitor.get(authorizeAddress(app))
    const answer = await visitor.submit(page, { action: "select", emoji_id: user.ids[1]! })
    expect(answer.status).toBe(302)
    const { searchParams } = locationOf(answer)
    expect(searchParams.get("state")).toBe("s-1")
    expect(searchParams.get("iss")).toBe("http://localhost:3001")
    const { body, headers, status } = await exchange(searchParams.get("code") ?? "")
    expect(status).toBe(200)
    expect(headers.get("cache-control")).toBe("no-store")
    expect(body).toMatchObject({ token_type: "SvcAccessToken", scope: "svc", expires_in: 900 })
    const listed = await service.call("GET", "/emoji_id", { token: body.access_token })
    expect(listed.body).toEqual([user.ids[1]])
    expect((await service.call("GET", "/account", { token: body.access_token })).status).toBe(403)
    expect((await service.call("GET", "/emoji_id/extended", { token: body.access_token })).status).toBe(403)
  })

  it("redirects a user who owns one id immediately, and shows a message to a user who owns no id", async () => {
    const one = await owner(1)
    const visitor = await loggedIn(one)
    expect(locationOf(await visitor.get(authorizeAddress(app))).searchParams.get("code")).not.toBeNull()
    const none = await loggedIn(await owner(0))
    expect((await none.get(authorizeAddress(app))).text).toContain("You have no emoji id yet")
  })

  it("uses the id in the parameter `svc`, or shows a message if the user does not own this id", async () => {
    const user = await owner(2)
    const visitor = await loggedIn(user)
    const address = authorizeAddress(app, { svc: user.ids[1]! })
    const direct = await visitor.get(address)
    const { body } = await exchange(locationOf(direct).searchParams.get("code") ?? "")
    expect((await service.call("GET", "/emoji_id", { token: body.access_token })).body).toEqual([user.ids[1]])
    const strange = await visitor.get(authorizeAddress(app, { svc: "💩💩" }))
    expect(strange.status).toBe(200)
    expect(strange.text).toContain("You do not own the requested emoji id")
  })

  it.each(["cross-site", "same-site", "none"])(
    "asks the user before it uses the id in `svc` if the header sec-fetch-site is `%s`",
    async (site) => {
      const user = await owner(2)
      const visitor = await loggedIn(user)
      const asked = await visitor.get(authorizeAddress(app, { svc: user.ids[1]! }), {
        "sec-fetch-site": site,
      })
      expect(asked.status).toBe(200)
      expect(asked.text).toContain(`Continue as ${user.ids[1]}`)
    },
  )

  it("rejects the choice of an id that another user owns", async () => {
    const stranger = await owner(1)
    const visitor = await loggedIn(await owner(2))
    const page = await visitor.get(authorizeAddress(app))
    const answer = await visitor.submit(page, { action: "select", emoji_id: stranger.ids[0]! })
    expect(answer.status).toBe(422)
    expect(answer.headers.get("location")).toBeNull()
  })

  it("redirects to the application with the error `access_denied` when the user cancels", async () => {
    const visitor = makeVisitor(service)
    const answer = await visitor.submit(await visitor.get(authorizeAddress(app)), { action: "deny" })
    expect(Object.fromEntries(locationOf(answer).searchParams)).toMatchObject({
      error: "access_denied",
      state: "s-1",
    })
  })

  it("requires the password and a two-factor code from a user with two-factor authentication", async () => {
    const person = await register(service)
    await service.register("🦁🦁🦁", { id: person.id, email: person.email, token: person.token })
    const { secret } = await turnOnTotp(service, person.token)
    const visitor = makeVisitor(service)
    const page = await visitor.get(authorizeAddress(app))
    const wrong = await visitor.submit(page, {
      action: "password",
      email: person.email,
      password: "wrong one",
    })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain("Incorrect email or password.")
    const right = await visitor.submit(page, { action: "password", email: person.email, password })
    expect(right.status).toBe(303)
    const asks = await visitor.get(authorizeAddress(app))
    expect(asks.text).toContain("authenticator app")
    expect(asks.headers.get("location")).toBeNull()
    const bad = await visitor.submit(asks, { action: "code", code: "000000" })
    expect(bad.status).toBe(422)
    const good = await visitor.submit(asks, { action: "code", code: totpCode(secret) })
    expect(good.status).toBe(303)
    expect(locationOf(await visitor.get(authorizeAddress(app))).searchParams.get("code")).not.toBeNull()
  })

  it("rejects forms without a form token, or with the form token of another browser or another login", async () => {
    const user = await owner(2)
    const visitor = await loggedIn(user)
    const page = await visitor.get(authorizeAddress(app))
    const choice = { action: "select", emoji_id: user.ids[0]! }
    expect((await visitor.submit(page, choice, { form_token: "" })).status).toBe(403)
    const elsewhere = await makeVisitor(service).get(authorizeAddress(app))
    expect((await visitor.submit(elsewhere, choice)).status).toBe(403)
    const before = await visitor.get(authorizeAddress(app))
    await visitor.submit(page, { action: "leave" })
    expect((await visitor.submit(before, choice)).status).toBe(403)
  })

  it("requires a new login after all sessions of the user have ended", async () => {
    const user = await owner(2)
    const visitor = await loggedIn(user)
    expect((await visitor.get(authorizeAddress(app))).text).toContain("Choose an emoji id for")
    await service.sql`select end_sessions(${user.id}, 'test')`
    expect((await visitor.get(authorizeAddress(app))).text).toContain('type="email"')
  })
})

describe("the response with an HTML page", () => {
  it("forbids inline scripts, framing, referrers and access by other origins", async () => {
    const { headers } = await service.call("GET", authorizeAddress(app), {
      headers: { origin: "https://evil.example" },
    })
    const policy = headers.get("content-security-policy") ?? ""
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain("unsafe")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain("form-action")
    expect(headers.get("referrer-policy")).toBe("no-referrer")
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("access-control-allow-origin")).toBeNull()
    const token = await tokenCall(service, {}, { origin: "https://evil.example" })
    expect(token.headers.get("access-control-allow-origin")).toBeNull()
    const preflight = await service.call("OPTIONS", "/token", { headers: { origin: "https://evil.example" } })
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull()
    expect(preflight.headers.get("access-control-allow-methods")).toBeNull()
  })

  it("restricts forms to the same origin if the page does not belong to an authorization request", async () => {
    const policyOf = async (path: string) =>
      (await service.call("GET", path)).headers.get("content-security-policy") ?? ""
    expect(await policyOf("/magic_link/done")).toContain("form-action 'self'")
    expect(await policyOf("/")).toContain("form-action 'self'")
  })

  it("sets cookies with the __Host- prefix and the Secure flag if the site uses https", async () => {
    const secure = await serveDirectory({ BASE_URL: "https://id.example" })
    const { id } = (
      await secure.call("POST", "/oauth_clients", {
        token: secure.admin.token,
        body: { name: "X", redirect_uris: ["https://x.example/cb"] },
      })
    ).body
    expect(id).toBeUndefined()
    const [client] = (await secure.call("GET", "/oauth_clients", { token: secure.admin.token })).body
    const page = await secure.call(
      "GET",
      authorizeAddress({ clientId: client.client_id, secret: "", redirectUri: "https://x.example/cb" }),
    )
    expect(page.headers.getSetCookie().join()).toMatch(
      /^__Host-svc_form=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    )
  })

  it("contains the application's name and the parameter `state` only in escaped form", async () => {
    const evil = await registerApplication(service, "https://x.example/cb", `<img src=x onerror="a()">`)
    const state = `"><script>alert(1)</script>`
    const page = await service.call("GET", authorizeAddress(evil, { state }))
    expect(page.status).toBe(200)
    expect(page.text).not.toContain("<script>")
    expect(page.text).not.toContain("<img")
  })
})

describe("an emailed link that no application requested", () => {
  it("lets a user without a password set a password of at least 8 characters", async () => {
    const email = someEmail()
    await service.call("POST", "/users", { body: { email } })
    const link = new URL(await newestMailLink(service, email))
    const visitor = makeVisitor(service)
    const used = await visitor.submit(await visitor.get(link.pathname + link.search), { action: "use" })
    expect(used.headers.get("location")).toBe("/magic_link/done")
    const page = await visitor.get("/magic_link/done")
    const short = await visitor.submit(page, { action: "password", password: "short" })
    expect(short.status).toBe(422)
    expect(short.text).toContain("at least 8 characters")
    expect((await visitor.submit(page, { action: "password", password })).status).toBe(303)
    expect((await visitor.get("/magic_link/done")).text).not.toContain("Do you want a password?")
    expect((await service.call("POST", "/auth/token", { body: { email, password } })).status).toBe(200)
  })

  it("ignores a parameter `redirect` that points to another site", async () => {
    const user = await owner(1)
    for (const redirect of [
      "https://evil.example/",
      "//evil.example/",
      "/\\evil.example",
      "javascript:alert(1)",
    ]) {
      await service.call("POST", "/auth/magic_link", { body: { email: user.email } })
      const link = new URL(await newestMailLink(service, user.email))
      link.searchParams.set("redirect", redirect)
      const visitor = makeVisitor(service)
      const used = await visitor.submit(await visitor.get(link.pathname + link.search), { action: "use" })
      expect(used.headers.get("location")).toBe("/magic_link/done")
    }
  })
})
