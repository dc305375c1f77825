import { beforeAll, describe, expect, it } from "vitest"
import { password, register, totpCode, turnOnTotp } from "../accounts/person.ts"
import { bitcoin, type DirectoryService, serveDirectory } from "../directory/directory-service.ts"
import type { TestUser } from "../fixtures/service.ts"
import { libraries, send } from "./send.ts"

const id = "🔥🐙🔥"
const path = `/emoji_id/${encodeURIComponent(id)}`
const { requests } = libraries
const json = { ...requests, "Content-Type": "application/json" }

let service: DirectoryService
let owner: TestUser
let key: string
beforeAll(async () => {
  service = await serveDirectory()
  owner = await service.user()
  await service.register(id, owner)
  const headers = { ...json, Authorization: `Bearer ${owner.token}` }
  const made = await send(service, "POST", "/api_keys", headers, { name: "script" })
  expect(made.status).toBe(200)
  key = made.body.api_key
})

describe("a script that keeps an API key", () => {
  it("lists the ids of its user although the Bearer token that it also keeps has expired", async () => {
    const headers = { ...json, "X-Api-Key": key, Authorization: "Bearer e30.e30.x" }
    const answer = await send(service, "GET", "/emoji_id", headers)
    expect([answer.status, answer.body]).toEqual([200, [id]])
  })

  it.each([
    ["in X-Api-Key and, without Bearer, in Authorization", () => ({ "X-Api-Key": key, Authorization: key })],
    ["in x-api-key", () => ({ "x-api-key": key })],
    ["as a Bearer token", () => ({ Authorization: `Bearer ${key}` })],
  ])("lists the ids of its user if it sends the key %s", async (_where, headers) => {
    const answer = await send(service, "GET", "/emoji_id", { ...requests, ...headers() })
    expect([answer.status, answer.body]).toEqual([200, [id]])
  })

  it("writes a record, finds its hash and deletes it", async () => {
    const headers = { ...json, "X-Api-Key": key }
    const insert = [{ data: bitcoin, tag: "0x1003" }]
    expect((await send(service, "PATCH", path, headers, { insert })).status).toBe(200)
    const { hash } = (await send(service, "GET", path, requests)).body.result[0]
    expect((await send(service, "PATCH", path, headers, { delete: [hash] })).status).toBe(200)
    expect((await send(service, "GET", path, requests)).body.result).toEqual([])
  })

  it("gets 404 for an id that nobody owns, and another error for a key that does not exist", async () => {
    const insert = [{ data: bitcoin, tag: "0x1003" }]
    const headers = { ...json, Accept: "application/json" }
    const free = `/emoji_id/${encodeURIComponent("🦊🦊🦊🦊")}`
    const missing = await send(service, "PATCH", free, { ...headers, "x-api-key": key }, { insert })
    expect(missing.status).toBe(404)
    const refused = await send(service, "PATCH", path, { ...headers, "x-api-key": "KEY" }, { insert })
    expect([refused.status, typeof refused.body.error]).toEqual([401, "string"])
  })

  it("gets JSON with `error` for a path in which a slash is missing", async () => {
    const answer = await send(service, "GET", `/emoji_id/rhythm${encodeURIComponent(id)}`, requests)
    expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String) }])
  })
})

describe("a script that logs in with a password and a two-factor code", () => {
  it("refreshes the token of the unfinished login first, and then sends the code", async () => {
    const person = await register(service)
    const { secret } = await turnOnTotp(service, person.token)
    const headers = { ...json, "X-Api-Key": key }
    const login = await send(
      service,
      "POST",
      "/auth/token",
      headers,
      JSON.stringify({ email: person.email, password }),
    )
    expect(login.body.requires_2fa).toBe("AuthenticatorApp")
    const { body } = await send(service, "POST", "/auth/token/refresh", headers, {
      refresh_token: login.body.refresh_token,
    })
    const refresh_token = body.refresh_token
    expect(refresh_token).toEqual(expect.stringMatching(/./))
    const done = await send(service, "POST", "/auth/2fa", headers, { code: totpCode(secret), refresh_token })
    expect(done.status).toBe(200)
    expect(done.body.requires_2fa ?? null).toBeNull()
    const account = await send(service, "GET", "/account", {
      ...requests,
      Authorization: `Bearer ${done.body.access_token}`,
    })
    expect(account.status).toBe(200)
  })
})
