import { describe, expect, it } from "vitest"
import { authorizeAddress, locationOf, makeVisitor, registerApplication } from "./application.ts"
import { startOauthService } from "./oauth-service.ts"

const { service, app, codeFor, exchange } = await startOauthService()
const other = await registerApplication(service, "https://other.example/cb", "Other")

describe("an authorization request without a registered redirect_uri", () => {
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
  it.each(mutations)("gets an error page and no redirect for the redirect_uri %j", async (uri) => {
    for (const more of [{}, { response_type: "token" }, { state: "x".repeat(51) }]) {
      const answer = await service.call("GET", authorizeAddress({ ...app, redirectUri: uri }, more))
      expect(answer.status).toBe(400)
      expect(answer.headers.get("location")).toBeNull()
      expect(answer.headers.get("content-type")).toContain("text/html")
    }
  })

  it("gets 400 and no redirect if redirect_uri or client_id is missing, repeated or wrong, or the query is malformed", async () => {
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

describe("an authorization request with a registered redirect_uri", () => {
  it.each([
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ response_type: "" }, "invalid_request"],
    [{ scope: "openid" }, "invalid_scope"],
    [{ scope: "svc openid" }, "invalid_scope"],
    [{ code_challenge: "x".repeat(43) }, "invalid_request"],
    [{ code_challenge: "x".repeat(43), code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge: "short", code_challenge_method: "S256" }, "invalid_request"],
    [{ code_challenge_method: "S256" }, "invalid_request"],
  ])(
    "and the parameters %j redirects to the application with the error `%s` and the state",
    async (more, error) => {
      const answer = await service.call("GET", authorizeAddress(app, more))
      expect(answer.status).toBe(302)
      const reported = Object.fromEntries(locationOf(answer).searchParams)
      expect(reported).toMatchObject({ error, state: "s-1", iss: "http://localhost:3001", tenant: "7" })
      expect(reported["error_description"]).toBeTruthy()
    },
  )

  it("gets back its `state` of 50 characters; a longer `state` is rejected, and the error redirect contains no `state`", async () => {
    const fits = "🐙".repeat(50)
    const denied = makeVisitor(service)
    const page = await denied.get(authorizeAddress(app, { state: fits }))
    expect(locationOf(await denied.submit(page, { action: "deny" })).searchParams.get("state")).toBe(fits)
    const answer = await service.call("GET", authorizeAddress(app, { state: "x".repeat(51) }))
    expect(answer.status).toBe(302)
    expect(locationOf(answer).searchParams.get("error")).toBe("invalid_request")
    expect(locationOf(answer).searchParams.has("state")).toBe(false)
  })

  it("may contain empty parameters, which are treated like missing parameters", async () => {
    const empty = { scope: "", state: "", code_challenge: "", code_challenge_method: "", svc: "" }
    const visitor = makeVisitor(service)
    const page = await visitor.get(authorizeAddress(app, empty))
    expect(page.status).toBe(200)
    expect(locationOf(await visitor.submit(page, { action: "deny" })).searchParams.has("state")).toBe(false)
    const { code } = await codeFor(empty)
    expect((await exchange(code)).status).toBe(200)
    const half = await service.call("GET", authorizeAddress(app, { ...empty, code_challenge_method: "S256" }))
    expect(locationOf(half).searchParams.get("error")).toBe("invalid_request")
  })

  it("is rejected as `invalid_request` if it contains a parameter twice", async () => {
    const answer = await service.call("GET", `${authorizeAddress(app)}&scope=svc`)
    expect(locationOf(answer).searchParams.get("error")).toBe("invalid_request")
  })
})
