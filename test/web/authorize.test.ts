import { describe, expect, it } from "vitest"
import { password, register, someEmail, totpCode, turnOnTotp } from "../auth/person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { freshId } from "../orders/shopper.ts"
import {
  authorizeAddress,
  locationOf,
  logInByMail,
  makeVisitor,
  newestLetterLink,
  pkce,
  registerApplication,
  tokenCall,
} from "./application.ts"

const service = await serveDirectory()
const app = await registerApplication(service, "https://app.example/callback?tenant=7")
const other = await registerApplication(service, "https://other.example/cb", "Other")

/** A user with a confirmed email and that many ids. */
const owner = async (count: number) => {
  const user = await service.user()
  const owned: Array<string> = []
  for (let i = 0; i < count; i++) {
    const id = freshId()
    await service.register(id, user)
    owned.push(id)
  }
  return { ...user, ids: owned }
}

const loggedIn = async (user: { email: string }) => {
  const visitor = makeVisitor(service)
  await logInByMail(service, visitor, authorizeAddress(app), user.email)
  return visitor
}

const codeFor = async (more: Record<string, string> = {}) => {
  const user = await owner(1)
  const visitor = await loggedIn(user)
  const answer = await visitor.get(authorizeAddress(app, more))
  return { user, visitor, code: locationOf(answer).searchParams.get("code") ?? "" }
}

const credentials = { client_id: app.clientId, client_secret: app.secret }
const exchange = (code: string, more: Record<string, string> = {}) =>
  tokenCall(service, {
    grant_type: "authorization_code",
    code,
    redirect_uri: app.redirectUri,
    ...credentials,
    ...more,
  })

describe("asking who somebody is", () => {
  it("shows a login page without a cookie, and sends back pending_magic_link once a link was asked for", async () => {
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

  it("answers the same for an address nobody has", async () => {
    const visitor = makeVisitor(service)
    const answer = await visitor.submit(await visitor.get(authorizeAddress(app)), {
      action: "link",
      email: "nobody-at-all@example.com",
    })
    expect(locationOf(answer).searchParams.get("status")).toBe("pending_magic_link")
    expect(await newestLetterLink(service, "nobody-at-all@example.com")).toBe("")
  })

  it("mails a link that carries the request and shows a button before it logs in", async () => {
    const user = await owner(2)
    const visitor = makeVisitor(service)
    await visitor.submit(await visitor.get(authorizeAddress(app)), { action: "link", email: user.email })
    const link = new URL(await newestLetterLink(service, user.email))
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      state: "s-1",
      scope: "svc",
    })
    const path = link.pathname + link.search
    const page = await visitor.get(path)
    expect(page.text).toContain(user.email)
    // A scanner opens it again and again: it still works.
    expect((await visitor.get(path)).status).toBe(200)
    const answer = await visitor.submit(page, { action: "use" })
    expect(answer.status).toBe(303)
    expect(answer.headers.getSetCookie().join()).toMatch(/svc_session=.*HttpOnly; SameSite=Lax/)
    const selector = await visitor.get(locationOf(answer).pathname + locationOf(answer).search)
    for (const id of user.ids) expect(selector.text).toContain(id)
    expect((await visitor.get(path)).status).toBe(400)
  })

  it("gives a code for the chosen id, with state and iss", async () => {
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

  it("does not ask who has one id, and tells who has none how to get one", async () => {
    const one = await owner(1)
    const visitor = await loggedIn(one)
    expect(locationOf(await visitor.get(authorizeAddress(app))).searchParams.get("code")).not.toBeNull()
    const none = await loggedIn(await owner(0))
    expect((await none.get(authorizeAddress(app))).text).toContain("You have no emoji id yet")
  })

  it("takes the id named by svc, but asks when another site has named it", async () => {
    const user = await owner(2)
    const visitor = await loggedIn(user)
    const address = authorizeAddress(app, { svc: user.ids[1]! })
    const direct = await visitor.get(address)
    const { body } = await exchange(locationOf(direct).searchParams.get("code") ?? "")
    expect((await service.call("GET", "/emoji_id", { token: body.access_token })).body).toEqual([user.ids[1]])
    const asked = await visitor.get(address, { "sec-fetch-site": "cross-site" })
    expect(asked.status).toBe(200)
    expect(asked.text).toContain(`Go on as ${user.ids[1]}`)
    const strange = await visitor.get(authorizeAddress(app, { svc: "💩💩" }))
    expect(strange.status).toBe(200)
    expect(strange.text).toContain("is not yours")
  })

  it("refuses an id of somebody else", async () => {
    const stranger = await owner(1)
    const visitor = await loggedIn(await owner(2))
    const page = await visitor.get(authorizeAddress(app))
    const answer = await visitor.submit(page, { action: "select", emoji_id: stranger.ids[0]! })
    expect(answer.status).toBe(422)
    expect(answer.headers.get("location")).toBeNull()
  })

  it("tells the application when the person refuses", async () => {
    const visitor = makeVisitor(service)
    const answer = await visitor.submit(await visitor.get(authorizeAddress(app)), { action: "deny" })
    expect(Object.fromEntries(locationOf(answer).searchParams)).toMatchObject({
      error: "access_denied",
      state: "s-1",
    })
  })

  it("logs in by password, and wants the second factor of who has one", async () => {
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
    expect(wrong.text).toContain("The address or the password is wrong.")
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

  it("refuses forms without its token, with another browser's, or with the token of another login", async () => {
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

  it("forgets the login after a logout everywhere", async () => {
    const user = await owner(2)
    const visitor = await loggedIn(user)
    expect((await visitor.get(authorizeAddress(app))).text).toContain("asks who you are")
    await service.sql`select end_sessions(${user.id}, 'test')`
    expect((await visitor.get(authorizeAddress(app))).text).toContain('type="email"')
  })
})

describe("the headers of these pages", () => {
  it("allow no inline script, no frame, no referrer, no other origin", async () => {
    const { headers } = await service.call("GET", authorizeAddress(app), {
      headers: { origin: "https://evil.example" },
    })
    const policy = headers.get("content-security-policy") ?? ""
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain("unsafe")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("form-action 'self' https://app.example")
    expect(headers.get("referrer-policy")).toBe("no-referrer")
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("access-control-allow-origin")).toBeNull()
    const token = await tokenCall(service, {}, { origin: "https://evil.example" })
    expect(token.headers.get("access-control-allow-origin")).toBeNull()
    const preflight = await service.call("OPTIONS", "/token", { headers: { origin: "https://evil.example" } })
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull()
    expect(preflight.headers.get("access-control-allow-methods")).toBeNull()
  })

  it("name cookies __Host- and mark them Secure where the site is https", async () => {
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

  it("encode what they reflect", async () => {
    const evil = await registerApplication(service, "https://x.example/cb", `<img src=x onerror="a()">`)
    const state = `"><script>alert(1)</script>`
    const page = await service.call("GET", authorizeAddress(evil, { state }))
    expect(page.status).toBe(200)
    expect(page.text).not.toContain("<script>")
    expect(page.text).not.toContain("<img")
  })
})

describe("a redirect_uri that is not the registered one, to the letter", () => {
  const { redirectUri } = app
  const mutations: ReadonlyArray<string> = [
    "",
    "https://app.example",
    "https://app.example/",
    "https://app.example/callback",
    "https://app.example/callback?tenant=8",
    "https://app.example/callback?tenant=7&",
    "https://app.example/callback?tenant=7&x=1",
    "https://app.example/callback?tenant=7#",
    "https://app.example/callback?tenant=7#a",
    "https://app.example/callback/?tenant=7",
    "https://app.example//callback?tenant=7",
    "https://app.example/./callback?tenant=7",
    "https://app.example/x/../callback?tenant=7",
    "https://app.example/callback%2F?tenant=7",
    "https://app.example/Callback?tenant=7",
    "https://APP.example/callback?tenant=7",
    "HTTPS://app.example/callback?tenant=7",
    "http://app.example/callback?tenant=7",
    "https://app.example:443/callback?tenant=7",
    "https://app.example:8443/callback?tenant=7",
    "https://app.example./callback?tenant=7",
    "https://sub.app.example/callback?tenant=7",
    "https://app.example.evil.example/callback?tenant=7",
    "https://evil.example/callback?tenant=7",
    "https://user@app.example/callback?tenant=7",
    "https://app.example@evil.example/callback?tenant=7",
    "https://app.example\\@evil.example/callback?tenant=7",
    "//app.example/callback?tenant=7",
    "javascript:alert(1)",
    "data:text/html,x",
    `${redirectUri} `,
    ` ${redirectUri}`,
    `${redirectUri}\n`,
    `${redirectUri}%00`,
    "https://app.exаmple/callback?tenant=7",
  ]
  it.each(mutations)("%j is explained on a page and never followed", async (uri) => {
    for (const more of [{}, { response_type: "token" }, { state: "x".repeat(51) }]) {
      const answer = await service.call("GET", authorizeAddress({ ...app, redirectUri: uri }, more))
      expect(answer.status).toBe(400)
      expect(answer.headers.get("location")).toBeNull()
      expect(answer.headers.get("content-type")).toContain("text/html")
    }
  })

  it("is refused when missing or sent twice, and so is a client that is unknown, missing or sent twice", async () => {
    const good = authorizeAddress(app)
    const address = encodeURIComponent(redirectUri)
    for (const bad of [
      good.replace(`redirect_uri=${address}`, ""),
      `${good}&redirect_uri=${address}`,
      `${good}&redirect_uri=${encodeURIComponent("https://evil.example/")}`,
      good.replace(app.clientId, "unknown"),
      good.replace(`client_id=${app.clientId}`, ""),
      `${good}&client_id=${app.clientId}`,
      good.replace(app.clientId, other.clientId),
      `${good}&bad=%ff`,
    ]) {
      const answer = await service.call("GET", bad)
      expect([bad, answer.status, answer.headers.get("location")]).toEqual([bad, 400, null])
    }
  })
})

describe("other faults of a request", () => {
  it.each([
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ response_type: "" }, "invalid_request"],
    [{ scope: "openid" }, "invalid_scope"],
    [{ scope: "svc openid" }, "invalid_scope"],
    [{ code_challenge: "x".repeat(43) }, "invalid_request"],
    [{ code_challenge: "x".repeat(43), code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge: "short", code_challenge_method: "S256" }, "invalid_request"],
    [{ code_challenge_method: "S256" }, "invalid_request"],
  ])("%j is told to the application as %s, with its state", async (more, error) => {
    const answer = await service.call("GET", authorizeAddress(app, more))
    expect(answer.status).toBe(302)
    const told = Object.fromEntries(locationOf(answer).searchParams)
    expect(told).toMatchObject({ error, state: "s-1", iss: "http://localhost:3001", tenant: "7" })
    expect(told["error_description"]).toBeTruthy()
  })

  it("a state of 50 characters comes back; a longer one is an error and does not", async () => {
    const fits = "🐙".repeat(50)
    const denied = makeVisitor(service)
    const page = await denied.get(authorizeAddress(app, { state: fits }))
    expect(locationOf(await denied.submit(page, { action: "deny" })).searchParams.get("state")).toBe(fits)
    const answer = await service.call("GET", authorizeAddress(app, { state: "x".repeat(51) }))
    expect(answer.status).toBe(302)
    expect(locationOf(answer).searchParams.get("error")).toBe("invalid_request")
    expect(locationOf(answer).searchParams.has("state")).toBe(false)
  })

  it("a parameter sent twice is invalid_request", async () => {
    const answer = await service.call("GET", `${authorizeAddress(app)}&scope=svc`)
    expect(locationOf(answer).searchParams.get("error")).toBe("invalid_request")
  })
})

describe("the token endpoint", () => {
  const rfc = (answer: { body: { error: string; error_description: string }; status: number }) => {
    expect(typeof answer.body.error_description).toBe("string")
    return [answer.status, answer.body.error]
  }

  it("takes a code once; the second time takes back what the first gave", async () => {
    const { code } = await codeFor()
    const first = await exchange(code)
    expect(first.status).toBe(200)
    const list = () => service.call("GET", "/emoji_id", { token: first.body.access_token })
    expect((await list()).status).toBe(200)
    expect(rfc(await exchange(code))).toEqual([400, "invalid_grant"])
    expect((await list()).status).toBe(401)
    const refresh = { grant_type: "refresh_token", refresh_token: first.body.refresh_token, ...credentials }
    expect(rfc(await tokenCall(service, refresh))).toEqual([400, "invalid_grant"])
  })

  it("gives twenty at once one set of tokens at most", async () => {
    const { code } = await codeFor()
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(code)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true)
  })

  it("wants the client the code was made for, with its secret, by form or by Basic", async () => {
    const { code } = await codeFor()
    const asOther = { client_id: other.clientId, client_secret: other.secret }
    expect(rfc(await exchange(code, asOther))).toEqual([400, "invalid_grant"])
    const wrong = await exchange(code, { client_secret: "svcs_wrong" })
    expect(rfc(wrong)).toEqual([401, "invalid_client"])
    expect(wrong.headers.get("www-authenticate")).toMatch(/^Basic /)
    expect(rfc(await exchange(code, { client_id: "nobody" }))).toEqual([401, "invalid_client"])
    const form = { grant_type: "authorization_code", code, redirect_uri: app.redirectUri }
    expect(rfc(await tokenCall(service, form))).toEqual([401, "invalid_client"])
    const basic = Buffer.from(`${app.clientId}:${app.secret}`).toString("base64")
    const header = { authorization: `Basic ${basic}` }
    const both = await tokenCall(service, { ...form, client_secret: app.secret }, header)
    expect(rfc(both)).toEqual([400, "invalid_request"])
    expect((await tokenCall(service, form, header)).status).toBe(200)
  })

  it("wants the same redirect_uri again", async () => {
    const { code } = await codeFor()
    expect(rfc(await exchange(code, { redirect_uri: "https://app.example/callback" }))).toEqual([
      400,
      "invalid_grant",
    ])
    expect(rfc(await exchange(code, { redirect_uri: "" }))).toEqual([400, "invalid_request"])
    expect((await exchange(code)).status).toBe(200)
  })

  it("wants the verifier of the challenge, and none where there was no challenge", async () => {
    const { challenge, verifier } = pkce()
    const { code } = await codeFor({ code_challenge: challenge, code_challenge_method: "S256" })
    expect(rfc(await exchange(code))).toEqual([400, "invalid_grant"])
    expect(rfc(await exchange(code, { code_verifier: pkce().verifier }))).toEqual([400, "invalid_grant"])
    expect(rfc(await exchange(code, { code_verifier: challenge }))).toEqual([400, "invalid_grant"])
    expect((await exchange(code, { code_verifier: verifier })).status).toBe(200)
    const plain = await codeFor()
    expect(rfc(await exchange(plain.code, { code_verifier: verifier }))).toEqual([400, "invalid_grant"])
  })

  it("refuses codes that were altered, made for something else or made up", async () => {
    const { code, user } = await codeFor()
    const [head, payload, signature] = code.split(".")
    const claims = JSON.parse(Buffer.from(payload ?? "", "base64url").toString())
    const altered = Buffer.from(JSON.stringify({ ...claims, ext: { ...claims.ext, emoji_id: "👑" } }))
    for (const bad of [
      `${head}.${altered.toString("base64url")}.${signature}`,
      user.token,
      "made.up.code",
      "x".repeat(4000),
    ]) {
      expect(rfc(await exchange(bad))).toEqual([400, "invalid_grant"])
    }
  })

  it("answers malformed requests as RFC 6749 says", async () => {
    expect(rfc(await tokenCall(service, credentials))).toEqual([400, "invalid_request"])
    expect(rfc(await tokenCall(service, { grant_type: "password", ...credentials }))).toEqual([
      400,
      "unsupported_grant_type",
    ])
    expect(rfc(await tokenCall(service, { grant_type: "authorization_code", ...credentials }))).toEqual([
      400,
      "invalid_request",
    ])
    const json = await service.call("POST", "/token", { body: { grant_type: "authorization_code" } })
    expect(rfc(json)).toEqual([400, "invalid_request"])
    const twice = await service.call("POST", "/token", {
      rawBody: "grant_type=authorization_code&grant_type=authorization_code",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    })
    expect(rfc(twice)).toEqual([400, "invalid_request"])
    expect(twice.headers.get("cache-control")).toBe("no-store")
  })

  it("rotates refresh tokens of its own, which are good for nothing else", async () => {
    const { code, user } = await codeFor()
    const { body } = await exchange(code)
    const refresh = (token: string, who: Record<string, string> = credentials) =>
      tokenCall(service, { grant_type: "refresh_token", refresh_token: token, ...who })
    const login = await service.call("POST", "/auth/token/refresh", {
      body: { refresh_token: body.refresh_token },
    })
    expect(login.status).toBe(401)
    const asOther = { client_id: other.clientId, client_secret: other.secret }
    expect(rfc(await refresh(body.refresh_token, asOther))).toEqual([400, "invalid_grant"])
    const next = await refresh(body.refresh_token)
    expect(next.status).toBe(200)
    expect((await service.call("GET", "/emoji_id", { token: next.body.access_token })).body).toEqual(user.ids)
    const third = await refresh(next.body.refresh_token)
    expect(third.status).toBe(200)
    // The first one is two generations old by now: somebody has kept it.
    expect(rfc(await refresh(body.refresh_token))).toEqual([400, "invalid_grant"])
    expect(rfc(await refresh(third.body.refresh_token))).toEqual([400, "invalid_grant"])
    expect((await service.call("GET", "/emoji_id", { token: third.body.access_token })).status).toBe(401)
  })

  it("gives nothing for a code whose user has logged out since", async () => {
    const { code, user } = await codeFor()
    await service.sql`select end_sessions(${user.id}, 'test')`
    await service.call("POST", "/logout", { token: user.token })
    expect(rfc(await exchange(code))).toEqual([400, "invalid_grant"])
  })
})

describe("a mailed link that leads nowhere else", () => {
  it("lets who registered with an email alone set a password, after which links are over", async () => {
    const email = someEmail()
    await service.call("POST", "/users", { body: { email } })
    const link = new URL(await newestLetterLink(service, email))
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

  it("never leads to another site", async () => {
    const user = await owner(1)
    for (const redirect of [
      "https://evil.example/",
      "//evil.example/",
      "/\\evil.example",
      "javascript:alert(1)",
    ]) {
      await service.call("POST", "/auth/magic_link", { body: { email: user.email } })
      const link = new URL(await newestLetterLink(service, user.email))
      link.searchParams.set("redirect", redirect)
      const visitor = makeVisitor(service)
      const used = await visitor.submit(await visitor.get(link.pathname + link.search), { action: "use" })
      expect(used.headers.get("location")).toBe("/magic_link/done")
    }
  })
})
