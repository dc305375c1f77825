import { decodeJwt } from "jose"
import { describe, expect, it } from "vitest"
import { authorizeAddress, locationOf, pkce, registerApplication, tokenCall } from "./application.ts"
import { startOauthService } from "./oauth-service.ts"

const { service, app, codeFor, credentials, exchange, loggedIn, owner } = await startOauthService()
const other = await registerApplication(service, "https://other.example/cb", "Other")

describe("the token endpoint", () => {
  const rfc = (answer: { body: { error: string; error_description: string }; status: number }) => {
    expect(typeof answer.body.error_description).toBe("string")
    return [answer.status, answer.body.error]
  }

  it("accepts an authorization code once, and revokes the code's tokens when the code is used again", async () => {
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

  it("issues codes and tokens with the role `User`, even for an administrator", async () => {
    const admin = await owner(1)
    await service.sql`update app_user set role = 'Admin' where id = ${admin.id}`
    const visitor = await loggedIn(admin)
    const code = locationOf(await visitor.get(authorizeAddress(app))).searchParams.get("code") ?? ""
    const { body: first } = await exchange(code)
    const { body: second } = await tokenCall(service, {
      grant_type: "refresh_token",
      refresh_token: first.refresh_token,
      ...credentials,
    })
    const issued = [code, first.access_token, first.refresh_token, second.access_token, second.refresh_token]
    for (const token of issued) expect(decodeJwt(token)).toMatchObject({ sub: admin.id, role: "User" })
  })

  it("issues at most one set of tokens for 20 simultaneous requests with the same code", async () => {
    const { code } = await codeFor()
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(code)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true)
  })

  it("requires the id and the secret of the client that got the code, and rejects a secret sent in two places", async () => {
    const { code } = await codeFor()
    const asOther = { client_id: other.clientId, client_secret: other.secret }
    expect(rfc(await exchange(code, asOther))).toEqual([400, "invalid_grant"])
    const wrong = await exchange(code, { client_secret: "svcs_wrong" })
    expect(rfc(wrong)).toEqual([401, "invalid_client"])
    expect(wrong.headers.get("www-authenticate")).toMatch(/^Basic /)
    expect(rfc(await exchange(code, { client_id: "unknown" }))).toEqual([401, "invalid_client"])
    const form = { grant_type: "authorization_code", code, redirect_uri: app.redirectUri }
    expect(rfc(await tokenCall(service, form))).toEqual([401, "invalid_client"])
    const basic = Buffer.from(`${app.clientId}:${app.secret}`).toString("base64")
    const header = { authorization: `Basic ${basic}` }
    const both = await tokenCall(service, { ...form, client_secret: app.secret }, header)
    expect(rfc(both)).toEqual([400, "invalid_request"])
    expect((await tokenCall(service, form, header)).status).toBe(200)
  })

  it("treats an empty parameter like a missing parameter", async () => {
    const form = { grant_type: "authorization_code", redirect_uri: app.redirectUri, scope: "" }
    const first = await codeFor()
    expect((await exchange(first.code, { code_verifier: "" })).status).toBe(200)
    const basic = Buffer.from(`${app.clientId}:${app.secret}`).toString("base64")
    const { code } = await codeFor()
    const empty = { ...form, code, client_id: "", client_secret: "" }
    expect((await tokenCall(service, empty, { authorization: `Basic ${basic}` })).status).toBe(200)
    expect(rfc(await tokenCall(service, empty))).toEqual([401, "invalid_client"])
    const { challenge } = pkce()
    const proven = await codeFor({ code_challenge: challenge, code_challenge_method: "S256" })
    expect(rfc(await exchange(proven.code, { code_verifier: "" }))).toEqual([400, "invalid_grant"])
  })

  it("requires the same redirect_uri as the authorization request", async () => {
    const { code } = await codeFor()
    expect(rfc(await exchange(code, { redirect_uri: "https://app.example/callback" }))).toEqual([
      400,
      "invalid_grant",
    ])
    expect(rfc(await exchange(code, { redirect_uri: "" }))).toEqual([400, "invalid_request"])
    expect((await exchange(code)).status).toBe(200)
  })

  it("requires the matching code_verifier after a code_challenge, and rejects a code_verifier without a code_challenge", async () => {
    const { challenge, verifier } = pkce()
    const { code } = await codeFor({ code_challenge: challenge, code_challenge_method: "S256" })
    expect(rfc(await exchange(code))).toEqual([400, "invalid_grant"])
    expect(rfc(await exchange(code, { code_verifier: pkce().verifier }))).toEqual([400, "invalid_grant"])
    expect(rfc(await exchange(code, { code_verifier: challenge }))).toEqual([400, "invalid_grant"])
    expect((await exchange(code, { code_verifier: verifier })).status).toBe(200)
    const plain = await codeFor()
    expect(rfc(await exchange(plain.code, { code_verifier: verifier }))).toEqual([400, "invalid_grant"])
  })

  it("rejects a modified code, an access token in place of a code, and an invented code", async () => {
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

  it("answers malformed requests with the error codes of RFC 6749", async () => {
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

  it("rotates refresh tokens, and revokes the newest tokens when an old refresh token is used", async () => {
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
    // The first token is now two generations old, so its use ends the grant.
    expect(rfc(await refresh(body.refresh_token))).toEqual([400, "invalid_grant"])
    expect(rfc(await refresh(third.body.refresh_token))).toEqual([400, "invalid_grant"])
    expect((await service.call("GET", "/emoji_id", { token: third.body.access_token })).status).toBe(401)
  })

  it("rejects a code if the user logged out after the code was issued", async () => {
    const { code, user } = await codeFor()
    await service.sql`select end_sessions(${user.id}, 'test')`
    await service.call("POST", "/logout", { token: user.token })
    expect(rfc(await exchange(code))).toEqual([400, "invalid_grant"])
  })
})
