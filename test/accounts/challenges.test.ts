import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type TokenKind, Tokens } from "../../src/accounts/sessions/tokens.ts"
import { type CallOptions, serve } from "../fixtures/service.ts"

const service = await serve({ METRICS_TOKEN: "token-of-the-operator" })
const user = await service.user()

const sign = (kind: TokenKind, ttlSeconds: number, userId = user.id) =>
  service.runtime.runPromise(
    Effect.flatMap(Tokens, (tokens) =>
      tokens.sign({ sub: userId, sid: randomUUID(), ep: 0, role: "User" }, { kind, ttlSeconds }),
    ),
  )
const refused = async (options: CallOptions, method = "GET", path = "/cart") => {
  const { body, headers, status } = await service.call(method, path, options)
  return { status, error: body.error, code: body.code, challenge: headers.get("www-authenticate") }
}
const bare = 'Bearer realm="api"'
const invalid = (error: string) => `${bare}, error="invalid_token", error_description="${error}"`

describe("a 401 response", () => {
  it("without credentials names only the scheme, and says what to send", async () => {
    for (const headers of [{}, { authorization: "Basic dTpw" }, { "x-api-key": "" }] as const)
      expect(await refused({ headers })).toEqual({
        status: 401,
        error: "Send an access token as Authorization: Bearer <token>, or an API key as X-Api-Key.",
        code: "unauthorized",
        challenge: bare,
      })
    expect((await refused({}, "POST", "/logout")).challenge).toBe(bare)
  })

  it("to an invalid API key names the API key", async () => {
    const error = "The API key is not valid: it is unknown, expired or deleted."
    for (const key of ["svc_a_b", "nonsense"])
      expect(await refused({ headers: { "x-api-key": key } })).toEqual({
        status: 401,
        error,
        code: "unauthorized",
        challenge: bare,
      })
    expect(await refused({ token: "svc_a_b" })).toMatchObject({ error, challenge: invalid(error) })
    const both = await refused({ token: "x", headers: { "x-api-key": "svc_a_b" } })
    expect(both.error).toBe(
      "The access token is not valid. Sign in again. The API key in X-Api-Key is not valid either.",
    )
  })

  it("to an invalid, expired or ended access token says which, in the body and in the challenge", async () => {
    const expired =
      "The access token has expired. Refresh it with POST /auth/token/refresh, or sign in again."
    const ended = "The session of the access token has ended. Sign in again."
    const unknown = "The access token is not valid. Sign in again."
    for (const [token, error] of [
      ["nonsense", unknown],
      [`${user.token.slice(0, -4)}AAAA`, unknown],
      [await sign("partner", 300), unknown],
      [await sign("access", -60), expired],
      [await sign("oauth-access", -60), expired],
      [await sign("access", 300, randomUUID()), ended],
    ] as const)
      expect(await refused({ token })).toEqual({
        status: 401,
        error,
        code: "unauthorized",
        challenge: invalid(error),
      })
  })

  it("of an operation that requires a login session says so to an API key and to an OAuth token", async () => {
    const error =
      "This operation requires the access token of a sign-in session, not an API key or OAuth token."
    const logout = (options: CallOptions) => refused(options, "POST", "/logout")
    expect(await logout({ headers: { "x-api-key": "svc_a_b" } })).toMatchObject({ error, challenge: bare })
    const oauth = await sign("oauth-access", 300)
    expect(await logout({ token: oauth })).toMatchObject({ error, challenge: invalid(error) })
  })

  it("of a login or a refresh has a challenge without an error, because no token was presented", async () => {
    const login = await refused({ body: { email: "a@example.com", password: "x" } }, "POST", "/auth/token")
    expect(login).toMatchObject({ status: 401, challenge: bare })
    const refresh = await refused({ body: { refresh_token: "x" } }, "POST", "/auth/token/refresh")
    expect(refresh).toMatchObject({ status: 401, challenge: bare })
  })

  it("of the metrics tells a missing token from a wrong one", async () => {
    expect((await refused({}, "GET", "/metrics")).challenge).toBe(bare)
    expect((await refused({ token: "wrong" }, "GET", "/metrics")).challenge).toMatch(/error="invalid_token"/)
  })
})

describe("a 403 response", () => {
  const insufficient = (scope: string) => `${bare}, error="insufficient_scope", scope="${scope}"`

  it("for a missing scope names it in the challenge", async () => {
    const answer = await service.call("GET", "/admin/events", { token: user.token })
    expect([answer.status, answer.body.scope]).toEqual([403, "domainEvent:read"])
    expect(answer.headers.get("www-authenticate")).toBe(insufficient("domainEvent:read"))
  })

  it("for a scope that only some requests need names it too", async () => {
    const path = `/transfers?sender_id=${randomUUID()}`
    const { headers, status } = await service.call("GET", path, { token: user.token })
    expect([status, headers.get("www-authenticate")]).toEqual([403, insufficient("adminEmoji:transfer")])
  })

  it("for another reason has no challenge", async () => {
    const token = await sign("oauth-access", 300)
    const { headers, status } = await service.call("GET", "/cart", { token })
    expect([status, headers.get("www-authenticate")]).toEqual([403, null])
  })
})
