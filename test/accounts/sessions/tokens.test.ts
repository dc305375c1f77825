import { createHmac, randomBytes } from "node:crypto"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { expect, test } from "vitest"
import { type TokenKind, Tokens } from "../../../src/accounts/sessions/tokens.ts"
import { makeKeyRing, type NamedKey } from "../../../src/crypto/key-ring.ts"

const key = (id: string): NamedKey => ({ id, secret: Redacted.make(randomBytes(32).toString("base64")) })
const [one, two] = [key("one"), key("two")]
const claims = { sub: "user-1", sid: "session-1", ep: 3, role: "User" }
const minutes = 15 * 60

const run = <A, E>(
  body: (tokens: Tokens["Service"]) => Effect.Effect<A, E>,
  options: { readonly keys?: ReadonlyArray<NamedKey>; readonly issuer?: string } = {},
) => {
  const layer = Tokens.layer({ keys: [one], issuer: "https://directory.test", ...options })
  return Effect.runPromise(
    Effect.gen(function* () {
      yield* TestClock.setTime(1_750_000_000_000)
      return yield* Tokens.use(body).pipe(Effect.provide(layer))
    }).pipe(Effect.provide(Layer.fresh(TestClock.layer()))),
  )
}
const signed = (kind: TokenKind = "access", options: Parameters<typeof run>[1] = {}, extra: object = {}) =>
  run(({ sign }) => sign({ ...claims, ...extra }, { kind, ttlSeconds: minutes }), options)
const refusal = (token: string, kind: TokenKind = "access", options: Parameters<typeof run>[1] = {}) =>
  run(({ verify }) => Effect.flip(verify(token, kind)), options).then((invalid) => {
    expect(invalid._tag).toBe("TokenInvalid")
    return invalid.reason
  })

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
const decode = (part = "") => JSON.parse(Buffer.from(part, "base64url").toString())
/** Creates a token outside the service, signed with the service's key unless another key is given. */
const forge = async (header: object, payload: object, hash = "sha256", secret?: Buffer) => {
  const ring = await Effect.runPromise(makeKeyRing([one], "tokens"))
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${createHmac(hash, secret ?? ring.current.export())
    .update(input)
    .digest("base64url")}`
}
const goodHeader = { alg: "HS256", typ: "at+jwt", kid: "one" }
const goodPayload = {
  ...claims,
  iss: "https://directory.test",
  aud: "api",
  iat: 1_750_000_000,
  exp: 1_750_000_900,
}

test("verifying a signed token returns its claims", async () => {
  const ext = { client_id: "shop", emoji_id: "🐙🌊" }
  const token = await signed("oauth-code", {}, { jti: "once", ext })
  expect(await run(({ verify }) => verify(token, "oauth-code"))).toEqual({
    ...claims,
    jti: "once",
    ext,
    iat: 1_750_000_000,
    exp: 1_750_000_900,
  })
})

test("a token is a JWT with type, key id and expiry, signed with HMAC-SHA-256 and the configured key", async () => {
  const token = await signed()
  const [header, payload] = token.split(".")
  expect(decode(header)).toEqual(goodHeader)
  expect(decode(payload)).toEqual(goodPayload)
  expect(await forge(decode(header), decode(payload))).toBe(token)
  expect(token.length).toBeLessThan(512)
})

const allKinds: ReadonlyArray<TokenKind> = ["access", "pending", "oauth-access", "oauth-code", "partner"]
test.each(
  allKinds.flatMap((made) => allKinds.filter((used) => used !== made).map((used) => [made, used] as const)),
)("a token of kind `%s` is rejected when it is used as kind `%s`", async (made, used) => {
  expect(await refusal(await signed(made), used)).toBe("wrong_kind")
})

test("a token is rejected with `wrong_kind` if its type header or its audience is wrong", async () => {
  expect(await refusal(await forge({ ...goodHeader, typ: "partner+jwt" }, goodPayload))).toBe("wrong_kind")
  expect(await refusal(await forge({ ...goodHeader, typ: undefined }, goodPayload))).toBe("wrong_kind")
  expect(await refusal(await forge(goodHeader, { ...goodPayload, aud: "partner-web" }))).toBe("wrong_kind")
})

test("a token of another issuer is rejected", async () => {
  expect(await refusal(await signed("access", { issuer: "https://elsewhere.test" }))).toBe("wrong_issuer")
})

test("a token is still accepted four seconds after its expiry, and rejected after five seconds", async () => {
  await run(({ sign, verify }) =>
    Effect.gen(function* () {
      const token = yield* sign(claims, { kind: "access", ttlSeconds: 60 })
      yield* TestClock.adjust("64 seconds")
      expect((yield* verify(token, "access")).sub).toBe("user-1")
      yield* TestClock.adjust("1 second")
      expect((yield* Effect.flip(verify(token, "access"))).reason).toBe("expired")
    }),
  )
})

test("a token without a signature (alg none) is rejected", async () => {
  for (const alg of ["none", "None", "nOnE"]) {
    expect(await refusal(`${encode({ ...goodHeader, alg })}.${encode(goodPayload)}.`)).toBe("algorithm")
  }
})

test("a token with an algorithm other than HS256 is rejected, even if its key is right", async () => {
  expect(await refusal(await forge({ ...goodHeader, alg: "HS512" }, goodPayload, "sha512"))).toBe("algorithm")
  expect(await refusal(await forge({ ...goodHeader, alg: "EdDSA" }, goodPayload))).toBe("algorithm")
})

test("a token that is signed with another key or has changed claims is rejected", async () => {
  expect(await refusal(await forge(goodHeader, goodPayload, "sha256", randomBytes(32)))).toBe("signature")
  const [header, , signature] = (await signed()).split(".")
  expect(await refusal(`${header}.${encode({ ...goodPayload, role: "Admin" })}.${signature}`)).toBe(
    "signature",
  )
})

test("a token with a missing or unknown key id is rejected", async () => {
  expect(await refusal(await forge({ ...goodHeader, kid: "two" }, goodPayload))).toBe("key_unknown")
  expect(await refusal(await forge({ alg: "HS256", typ: "at+jwt" }, goodPayload))).toBe("key_unknown")
})

test("a correctly signed token with missing or wrong claims is rejected", async () => {
  for (const change of [
    { sub: undefined },
    { ep: "3" },
    { exp: undefined },
    { exp: "soon" },
    { sid: null },
  ]) {
    expect(await refusal(await forge(goodHeader, { ...goodPayload, ...change }))).toBe("malformed")
  }
})

test("a token of more than 2048 bytes is rejected, and signing such a token fails", async () => {
  expect(await refusal(await forge(goodHeader, { ...goodPayload, pad: "x".repeat(2000) }))).toBe("oversize")
  await expect(signed("access", {}, { ext: { pad: "x".repeat(2000) } })).rejects.toThrow(/over 2048/)
})

test("a random text or a damaged token is rejected without an unexpected error", async () => {
  const token = await signed()
  const damaged = fc
    .tuple(fc.nat(token.length - 1), fc.string({ maxLength: 3 }))
    .map(([at, text]) => token.slice(0, at) + text + token.slice(at + 1))
    .filter((text) => text !== token)
  const jws = fc.tuple(fc.json(), fc.json(), fc.string()).map(([h, p, s]) => [h, p, s].map(encode).join("."))
  await run((tokens) =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.oneof(fc.string(), damaged, jws), async (text) => {
          const exit = await Effect.runPromise(Effect.result(tokens.verify(text, "access")))
          // The unused bits of the last character may change without changing the bytes of the signature.
          if (exit._tag === "Success") expect(text.slice(0, -1)).toBe(token.slice(0, -1))
        }),
        { numRuns: 300 },
      ),
    ),
  )
})

test("after a key rotation, old tokens are still valid, and new tokens are signed with the new key", async () => {
  const old = await signed()
  const rotated = { keys: [two, one] }
  expect((await run(({ verify }) => verify(old, "access"), rotated)).sub).toBe("user-1")
  const fresh = await signed("access", rotated)
  expect(decode(fresh.split(".")[0])).toMatchObject({ kid: "two" })
  expect(await refusal(fresh)).toBe("key_unknown")
  expect(await refusal(old, "access", { keys: [two] })).toBe("key_unknown")
})

test("a verified token is cached until it expires, and only for its kind", async () => {
  await run(({ sign, verify, verifyCached }) =>
    Effect.gen(function* () {
      const token = yield* sign(claims, { kind: "access", ttlSeconds: 60 })
      expect(verifyCached(token, "access")).toBeUndefined()
      const verified = yield* verify(token, "access")
      expect(verifyCached(token, "access")).toBe(verified)
      expect(yield* verify(token, "access")).toBe(verified)
      expect(verifyCached(token, "partner")).toBeUndefined()
      expect((yield* Effect.flip(verify(token, "partner"))).reason).toBe("wrong_kind")
      yield* TestClock.adjust("60 seconds")
      expect(verifyCached(token, "access")).toBeUndefined()
      expect((yield* verify(token, "access")).sub).toBe("user-1")
      expect(verifyCached(token, "access")).toBeUndefined()
    }),
  )
})

test("a rejected token is not cached", async () => {
  const token = await signed("partner")
  await run(({ verify, verifyCached }) =>
    Effect.gen(function* () {
      yield* Effect.flip(verify(token, "access"))
      expect(verifyCached(token, "access")).toBeUndefined()
    }),
  )
})
