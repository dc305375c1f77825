import { createHmac, randomBytes } from "node:crypto"
import { Effect, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { makeKeyRing } from "../../../src/crypto/key-ring.ts"
import { claimsOf, login, newestLink, password, register, turnOnTotp } from "../../accounts/person.ts"
import { liveSocket } from "../../fixtures/live-client.ts"
import { tokenCall } from "../../sign-in/oauth/application.ts"
import { startOauthService } from "../../sign-in/oauth/oauth-service.ts"

/** The master key of the test services. */
const master = Buffer.alloc(32, 7).toString("base64url")
const { codeFor, credentials, exchange, service } = await startOauthService()

const person = await register(service)
const guarded = await register(service)
await turnOnTotp(service, guarded.token)
const { body: pending } = await login(service, guarded.email, password)
const { body: granted } = await exchange((await codeFor()).code)
await service.call("POST", "/users", { body: { email: "link@example.com" } })
const admin = await service.user({ role: "Admin" })
const { body: apiKey } = await service.call("POST", "/api_keys", {
  token: admin.token,
  body: { name: "all" },
})

/** One valid token of each kind that the service issues. */
const tokens = {
  "access token": person.token,
  "refresh token": person.refresh,
  "access token of a login before its two-factor code": pending.access_token as string,
  "refresh token of a login before its two-factor code": pending.refresh_token as string,
  "authorization code": (await codeFor()).code,
  "OAuth access token": granted.access_token as string,
  "OAuth refresh token": granted.refresh_token as string,
  "token of a mailed link": await newestLink(service, "link@example.com"),
  "API key": apiKey.api_key as string,
}
type Kind = keyof typeof tokens

const post = async (path: string, body: unknown) => (await service.call("POST", path, { body })).status
/** The places that accept a token, and the kinds that each place accepts. */
const places: ReadonlyArray<readonly [string, ReadonlyArray<Kind>, (token: string) => Promise<number>]> = [
  [
    "the Bearer token of an operation",
    ["access token", "API key"],
    async (token) => (await service.call("GET", "/account", { token })).status,
  ],
  [
    "the Bearer token of GET /emoji_id",
    ["access token", "API key", "OAuth access token"],
    async (token) => (await service.call("GET", "/emoji_id", { token })).status,
  ],
  [
    "X-Api-Key",
    ["API key"],
    async (key) => (await service.call("GET", "/account", { headers: { "x-api-key": key } })).status,
  ],
  [
    "a token to refresh",
    ["refresh token"],
    // A login before its code may renew its tokens, but gets only tokens of the same kind.
    async (refresh_token) => {
      const { body, status } = await service.call("POST", "/auth/token/refresh", { body: { refresh_token } })
      return status === 200 && body.requires_2fa !== undefined ? 401 : status
    },
  ],
  ["the token of a link", ["token of a mailed link"], (token) => post("/auth/magic_link/consume", { token })],
  ["an authorization code", ["authorization code"], async (code) => (await exchange(code)).status],
  [
    "an OAuth refresh token",
    ["OAuth refresh token"],
    async (refresh_token) =>
      (await tokenCall(service, { grant_type: "refresh_token", refresh_token, ...credentials })).status,
  ],
  [
    "the token of a live socket",
    ["access token", "API key"],
    async (token) => {
      const client = await liveSocket(service.url)()
      client.send({ type: "connect", token })
      const first = await Promise.race([client.take({ type: "connected" }), client.closing])
      client.close()
      return "code" in first ? 401 : 200
    },
  ],
]
const pairs = places.flatMap(([place, accepted, use]) =>
  (Object.keys(tokens) as ReadonlyArray<Kind>).map((kind) => ({
    place,
    kind,
    use,
    isRight: accepted.includes(kind),
  })),
)

describe("a token of one kind", () => {
  it.each(pairs.filter(({ isRight }) => !isRight).map((pair) => [pair.kind, pair.place, pair] as const))(
    "is refused in the place of another: %s as %s",
    async (_kind, _place, { kind, use }) => {
      // An OAuth access token is valid, but most operations are forbidden to it.
      expect([400, 401, 403]).toContain(await use(tokens[kind]))
    },
  )

  // These come last, because most tokens work only once.
  it.each(pairs.filter(({ isRight }) => isRight).map((pair) => [pair.kind, pair.place, pair] as const))(
    "is accepted in its own place, so it was valid until here: %s as %s",
    async (_kind, _place, { kind, use }) => {
      expect(await use(tokens[kind])).toBe(200)
    },
  )

  it("is shorter than 2 KB, whatever its kind, so that it fits into a header", () => {
    for (const token of Object.values(tokens)) expect(token.length).toBeLessThan(2048)
  })
})

describe("an access token that was made outside the service", () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const ring = () => makeKeyRing([{ id: "test", secret: Redacted.make(master) }], "tokens")
  const key = Effect.runSync(ring()).current.export()
  const claims = claimsOf(person.token) as object
  const head = { alg: "HS256", typ: "at+jwt", kid: "test" }
  const made = (header: object, payload: object, secret: Uint8Array = key, hash = "sha256") => {
    const input = `${encode({ ...head, ...header })}.${encode({ ...claims, ...payload })}`
    return `${input}.${createHmac(hash, secret).update(input).digest("base64url")}`
  }
  const statusOf = async (token: string) => (await service.call("GET", "/account", { token })).status
  const now = Math.floor(Date.now() / 1000)

  it("is accepted if it has the right key and the right claims, so the refusals below have one reason each", async () => {
    expect(await statusOf(made({}, {}))).toBe(200)
  })

  it.each([
    ["no signature (alg none)", `${made({ alg: "none" }, {}).split(".").slice(0, 2).join(".")}.`],
    ["alg none with a signature", made({ alg: "none" }, {})],
    ["another hash function", made({ alg: "HS512" }, {}, key, "sha512")],
    ["an asymmetric algorithm, and the secret as its public key", made({ alg: "RS256" }, {})],
    ["the algorithm EdDSA", made({ alg: "EdDSA" }, {})],
    ["another key", made({}, {}, randomBytes(32))],
    ["an empty key", made({}, {}, new Uint8Array(1))],
    ["the master key instead of the derived key", made({}, {}, Buffer.from(master, "base64url"))],
    ["an unknown key id", made({ kid: "other" }, {})],
    ["no key id", made({ kid: undefined }, {})],
    ["a path as its key id", made({ kid: "../../dev/null" }, {}, new Uint8Array(1))],
    ["a key in its own header", made({ jwk: { kty: "oct", k: "AA" } }, {}, new Uint8Array(1))],
    ["an unknown critical extension", made({ crit: ["x"], x: 1 }, {})],
    ["another issuer", made({}, { iss: "https://elsewhere.example" })],
    ["another audience", made({}, { aud: "two-factor" })],
    ["another type", made({ typ: "pending+jwt" }, {})],
    ["an end in the past", made({}, { iat: now - 1000, exp: now - 100 })],
    ["a begin in the future", made({}, { nbf: now + 1000 })],
    ["no end", made({}, { exp: undefined })],
    ["no session", made({}, { sid: undefined })],
    ["a user who does not exist", made({}, { sub: "00000000-0000-4000-8000-000000000000" })],
    ["a later epoch than the user's", made({}, { ep: 1 })],
  ])("gets 401 with %s", async (_, token) => {
    expect(await statusOf(token)).toBe(401)
  })

  it("gets the permissions of the stored role, not those of a role in its claims", async () => {
    const token = made({}, { role: "Super" })
    expect((await service.call("GET", "/users", { token })).status).toBe(403)
  })
})
