import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { makeApiKey } from "../../src/accounts/api-keys/secrets.ts"
import { Tokens } from "../../src/accounts/sessions/tokens.ts"
import { Bus } from "../../src/cluster/bus.ts"
import { Guards } from "../../src/http/guards.ts"
import { addressGroup } from "../../src/http/request/caller-address.ts"
import type { AuthScheme } from "../../src/http/route.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { inTime } from "../fixtures/suite/patience.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

const whoIs = (headers: Record<string, string>, scheme: AuthScheme = "apiKey") =>
  service.runtime.runPromise(
    Effect.flatMap(Guards, (guards) => guards.authenticate(scheme, { headers })).pipe(
      Effect.catchTag("Unauthorized", () => Effect.succeed("unauthorized" as const)),
    ),
  )

const makeKey = async (
  userId: string,
  facts: { scopes?: ReadonlyArray<string>; expires?: string | null } = {},
) => {
  const key = await Effect.runPromise(makeApiKey)
  await service.sql`insert into api_key (id, user_id, name, secret_hash, scopes, expires_at)
    values (${key.id}, ${userId}, 'k', ${key.hash}, ${facts.scopes ?? ["user:writeSelf", "cart:show"]},
            ${facts.expires ?? null})`
  return key
}

describe("an API key", () => {
  it("in X-Api-Key or as a Bearer token has the scopes that both the key and its user have", async () => {
    const { id } = await service.user()
    const key = await makeKey(id, { scopes: ["cart:show", "adminEmoji:write"] })
    for (const headers of [{ "x-api-key": key.text }, { authorization: `Bearer ${key.text}` }]) {
      expect(await whoIs(headers)).toMatchObject({
        userId: id,
        via: "api_key",
        sessionId: "",
        scopes: new Set(["cart:show"]),
      })
    }
  })

  it("is accepted in X-Api-Key if the header name has another letter case, or if the Authorization header is invalid", async () => {
    const { id } = await service.user()
    const { text } = await makeKey(id)
    const rename = (headers: Record<string, string>) =>
      service.call("PATCH", "/account", { headers, body: { first_name: "Ada" } })
    expect((await rename({ "X-API-KEY": text })).status).toBe(200)
    expect((await rename({ "x-Api-Key": text, authorization: "Basic dTpw" })).status).toBe(200)
    expect((await rename({ "x-api-key": text, authorization: "Bearer expired" })).status).toBe(200)
    expect((await rename({ "x-api-key": `${text}x` })).status).toBe(401)
  })

  it("without the required scope gets a 403 response that names the scope", async () => {
    const { id } = await service.user()
    const { text } = await makeKey(id, { scopes: ["cart:show"] })
    const answer = await service.call("PATCH", "/account", { headers: { "x-api-key": text }, body: {} })
    expect(answer.status).toBe(403)
    expect(answer.body.scope).toBe("user:writeSelf")
  })

  it("cannot change the password and is not accepted as a login session", async () => {
    const { id } = await service.user()
    const { text } = await makeKey(id)
    const headers = { "x-api-key": text }
    const body = { password: "a new password" }
    expect((await service.call("PATCH", "/account", { headers, body })).status).toBe(403)
    expect((await service.call("POST", "/logout", { headers })).status).toBe(401)
    expect(await whoIs({ authorization: `Bearer ${text}` }, "two_factor")).toBe("unauthorized")
  })

  it("is rejected if it is expired or deleted, if its secret is wrong, or if its user is deactivated", async () => {
    const { id } = await service.user()
    const expired = await makeKey(id, { expires: "2020-01-01T00:00:00Z" })
    expect(await whoIs({ "x-api-key": expired.text })).toBe("unauthorized")

    const key = await makeKey(id)
    const last = key.text.endsWith("0") ? "1" : "0"
    expect(await whoIs({ "x-api-key": `${key.text.slice(0, -1)}${last}` })).toBe("unauthorized")
    expect(await whoIs({ "x-api-key": key.text })).toMatchObject({ userId: id })
    expect(await whoIs({ "x-api-key": `${key.text.slice(0, -1)}${last}` })).toBe("unauthorized")

    await service.sql`delete from api_key where id = ${key.id}`
    await service.runtime.runPromise(Bus.use((bus) => bus.invalidate("api_key", [key.id])))
    expect(await whoIs({ "x-api-key": key.text })).toBe("unauthorized")

    const off = await service.user()
    const offKey = await makeKey(off.id)
    await service.sql`update app_user set deactivated_at = now() where id = ${off.id}`
    expect(await whoIs({ "x-api-key": offKey.text })).toBe("unauthorized")
  })

  it("that expires while it is cached is rejected after its expiry", async () => {
    const { id } = await service.user()
    const key = await inTime(1, async (seconds) => {
      const made = await makeKey(id, { expires: new Date(Date.now() + seconds * 1000).toISOString() })
      const who = await whoIs({ "x-api-key": made.text })
      if (who === "unauthorized") return undefined
      expect(who).toMatchObject({ userId: id })
      return made
    })
    await expect.poll(() => whoIs({ "x-api-key": key.text })).toBe("unauthorized")
  })
})

describe("an OAuth access token", () => {
  const oauthToken = (userId: string, ep = 0) =>
    service.runtime.runPromise(
      Tokens.use((tokens) =>
        tokens.sign(
          { sub: userId, sid: crypto.randomUUID(), ep, role: "User", ext: { emoji_id: "🎈" } },
          { kind: "oauth-access", ttlSeconds: 60 },
        ),
      ),
    )

  it("authenticates its user with only the scope `userEmoji:list`, and passes on the emoji id that it contains", async () => {
    const { id } = await service.user({ role: "Admin" })
    const authorization = `Bearer ${await oauthToken(id)}`
    for (let twice = 0; twice < 2; twice++) {
      expect(await whoIs({ authorization })).toMatchObject({
        userId: id,
        via: "oauth",
        emojiId: "🎈",
        scopes: new Set(["userEmoji:list"]),
      })
    }
  })

  it("cannot call operations that require another scope or a login session", async () => {
    const { id } = await service.user()
    const token = await oauthToken(id)
    expect((await service.call("PATCH", "/account", { token, body: {} })).status).toBe(403)
    expect((await service.call("POST", "/logout", { token })).status).toBe(401)
  })

  it("is rejected after the user logs out", async () => {
    const { id, token } = await service.user()
    const mine = await oauthToken(id)
    expect((await service.call("POST", "/logout", { token })).status).toBe(200)
    expect(await whoIs({ authorization: `Bearer ${mine}` })).toBe("unauthorized")
  })
})

describe("the rate limit by IP address", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["0000:0000:0000:0000:0000:ffff:cb00:7107", "203.0.113.7"],
    ["2001:db8:1:2:aaaa:bbbb:cccc:dddd", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
  ])("counts requests from %s under the key %s", (address, group) => {
    expect(addressGroup(address)).toBe(group)
  })
})
