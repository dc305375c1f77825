import { randomUUID } from "node:crypto"
import { ed25519 } from "@noble/curves/ed25519.js"
import { describe, expect, it } from "vitest"
import { SecondFactors } from "../../src/accounts/two-factor/second-factors.ts"
import { login, register, someEmail, totpCode } from "../accounts/person.ts"
import { expectAnswer } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"

/** The headers and bodies are those of generated clients, which send a content type with every request. */
const service = await serve({}, { peersPossible: true })
const generated = { "content-type": "application/json; charset=utf-8", accept: "application/json" }
const call = (method: string, path: string, token?: string, body?: unknown) =>
  service.call(method, path, {
    headers: generated,
    ...(token === undefined ? {} : { token }),
    ...(method === "GET" ? {} : { rawBody: JSON.stringify(body ?? null) }),
  })
const account = async (token: string) => {
  const answer = await call("GET", "/account", token)
  expect(answer.status).toBe(200)
  expectAnswer("GET", "/account", answer.body)
  return answer.body
}

describe("a wallet app that registers its users with alternate_id, password and source", () => {
  const credentials = { alternate_id: `app:${randomUUID()}`, password: "a device secret" }

  it("registers, logs in, refreshes, adds 2FA and logs in again with the code that it has just confirmed", async () => {
    const registered = await call("POST", "/users", undefined, { ...credentials, source: "wallet" })
    expect(registered.status).toBe(200)
    expectAnswer("POST", "/users", registered.body)
    const again = await call("POST", "/users", undefined, { ...credentials, source: "wallet" })
    expect([again.status, again.body.fields.alternate_id[0].code]).toEqual([422, "uniqueness"])

    const loggedIn = await call("POST", "/auth/token", undefined, credentials)
    expectAnswer("POST", "/auth/token", loggedIn.body)
    expect(loggedIn.body).not.toHaveProperty("requires_2fa")
    const refreshed = await call("POST", "/auth/token/refresh", undefined, {
      refresh_token: loggedIn.body.refresh_token,
    })
    expectAnswer("POST", "/auth/token/refresh", refreshed.body)
    const token: string = refreshed.body.access_token
    const { user } = await account(token)
    expect(user).toMatchObject({ alternate_id: credentials.alternate_id, source: "wallet", is_active: true })
    expect(user).not.toHaveProperty("email")

    // The app omits `default`, which the contract requires.
    const enabled = await call("POST", "/account/2fa/enable", token, { provider: "AuthenticatorApp" })
    expect(enabled.status).toBe(200)
    expectAnswer("POST", "/account/2fa/enable", enabled.body)
    const code = totpCode(enabled.body.ga_secret)
    const confirmed = await call("POST", "/account/2fa/confirm", token, { code })
    expect(confirmed.status).toBe(200)
    expectAnswer("POST", "/account/2fa/confirm", confirmed.body)
    const pending = await call("POST", "/auth/token", undefined, credentials)
    expect(pending.body.requires_2fa).toBe("AuthenticatorApp")
    const refresh_token: string = pending.body.refresh_token
    const verified = await call("POST", "/auth/2fa", undefined, { code, refresh_token })
    expect(verified.status).toBe(200)
    expectAnswer("POST", "/auth/2fa", verified.body)
    expect((await account(verified.body.access_token)).user.two_factor_auth).toEqual(["AuthenticatorApp"])
  })
})

describe("the code that confirmed the setup of an authenticator app", () => {
  const enrolled = async () => {
    const person = await register(service)
    const enabled = await call("POST", "/account/2fa", person.token, { provider: "AuthenticatorApp" })
    const code = totpCode(enabled.body.ga_secret)
    expect((await call("POST", "/account/2fa/confirm", person.token, { code })).status).toBe(200)
    return { ...person, code }
  }
  const sendCode = async (email: string, code: string) =>
    call("POST", "/auth/2fa", undefined, {
      code,
      refresh_token: (await login(service, email)).body.refresh_token,
    })

  it("is accepted once more at /auth/2fa, and refused as used when it is sent a third time", async () => {
    const { code, email } = await enrolled()
    expect((await sendCode(email, code)).status).toBe(200)
    const third = await sendCode(email, code)
    expect([third.status, third.body.error]).toEqual([401, expect.stringContaining("already used")])
  })

  it("is refused as used outside of /auth/2fa, which still accepts it afterwards", async () => {
    const { code, email, id } = await enrolled()
    const proof = await service.runtime.runPromise(
      SecondFactors.use((factors) => factors.prove(id, randomUUID(), code, { forLogin: false })),
    )
    expect(proof.proof).toBe("spent")
    expect((await sendCode(email, code)).status).toBe(200)
  })

  it("is accepted by only one of eight logins that send it at the same time", async () => {
    const { code, email } = await enrolled()
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => sendCode(email, code)))).map(
      ({ status }) => status,
    )
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 401)])
  })
})

describe("the keys of a user", () => {
  const form = {
    "an email": () => ({ email: someEmail() }),
    "an email and a password": () => ({ email: someEmail(), password: "a long password" }),
    "an alternate_id and a password": () => ({ alternate_id: randomUUID(), password: "a long password" }),
  }

  it.each(Object.entries(form))(
    "contain a custodial key immediately after registration with %s",
    async (_, body) => {
      const { body: tokens } = await call("POST", "/users", undefined, body())
      const { pubkeys, user } = await account(tokens.access_token)
      expect(pubkeys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
      expect(user.pubkeys).toEqual(pubkeys)
      expect((await call("GET", "/pubkeys", tokens.access_token)).body).toEqual(pubkeys)
      const loaded = await call("GET", "/account/load", tokens.access_token)
      expect(loaded.body.current_user.pubkeys).toEqual(pubkeys)
      expect(
        await service.sql`select 1 from pubkey where pubkey = ${pubkeys[0]} and sealed_key is not null`,
      ).toHaveLength(1)
    },
  )

  it("list the custodial key first, then a generated key and a key of the user's own", async () => {
    const { token } = await register(service)
    const [first] = (await account(token)).pubkeys
    const generatedKey = await call("POST", "/pubkeys", token)
    expectAnswer("POST", "/pubkeys", generatedKey.body)
    const own = Buffer.from(ed25519.keygen().publicKey).toString("hex")
    expect((await call("POST", `/pubkeys/${own}`, token)).body).toBe(own)
    expect((await account(token)).pubkeys).toEqual([first, generatedKey.body, own])
  })
})

describe("a user object", () => {
  it("has is_active true, and false while the user is deactivated", async () => {
    const admin = await service.user({ role: "Admin" })
    const { id, token } = await register(service)
    expect((await account(token)).user.is_active).toBe(true)
    const shown = async () => (await call("GET", `/users/${id}`, admin.token)).body
    await call("PATCH", `/users/${id}`, admin.token, { active: false })
    expect(await shown()).toMatchObject({ is_active: false, deactivated_at: expect.any(String) })
    await call("PATCH", `/users/${id}`, admin.token, { active: true })
    expect(await shown()).toMatchObject({ is_active: true })
    expect(await shown()).not.toHaveProperty("deactivated_at")
  })
})

describe("a client that adds the same thing twice", () => {
  const own = () => Buffer.from(ed25519.keygen().publicKey).toString("hex")

  it.each([
    ["an interest", "/user_interests", { emoji_id: "🐙🌊🔥" }, "emoji_id"],
    ["a pubkey", `/pubkeys/${own()}`, null, "pubkey"],
  ] as const)(
    "gets 422 uniqueness for %s with the field, but the first answer for a repeated Idempotency-Key",
    async (_, path, body, field) => {
      const { token } = await register(service)
      const ask = (key: string) =>
        service.call("POST", path, {
          token,
          rawBody: JSON.stringify(body),
          headers: { ...generated, "Idempotency-Key": key },
        })
      const first = await ask("a")
      expect(first.status).toBe(200)
      const replayed = await ask("a")
      expect([replayed.status, replayed.body]).toEqual([200, first.body])
      for (const refused of [await call("POST", path, token, body), await ask("b")]) {
        expect(refused.status).toBe(422)
        expect(refused.body.fields[field][0].code).toBe("uniqueness")
      }
    },
  )

  it("gets 422 uniqueness for a pubkey that an admin adds to a user a second time", async () => {
    const admin = await service.user({ role: "Admin" })
    const { id } = await register(service)
    const path = `/users/${id}/pubkeys/${own()}`
    expect((await call("POST", path, admin.token)).status).toBe(200)
    const refused = await call("POST", path, admin.token)
    expect([refused.status, refused.body.fields.pubkey[0].code]).toEqual([422, "uniqueness"])
  })
})
