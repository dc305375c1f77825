import { randomBytes, randomUUID } from "node:crypto"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { Tokens } from "../../src/accounts/sessions/tokens.ts"
import { bitcoin } from "../directory/directory-service.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { freshId } from "../orders/shopper.ts"
import { libraries, send } from "./send.ts"

const json = { "Content-Type": "application/json; charset=utf-8", Accept: "application/json" }
const bearer = (token: string) => ({ ...libraries.okhttp, ...json, Authorization: `Bearer ${token}` })

/** The account data that a wallet derives on the device: its public key in upper-case hex, and a random password. */
const device = () => ({
  alternate_id: randomBytes(32).toString("hex").toUpperCase(),
  password: `_!=?*-.:,;${randomBytes(24).toString("base64url")}`,
})

let service: TestService
beforeAll(async () => {
  service = await serve()
})

const register = (account: object, headers: Record<string, string> = {}) =>
  send(service, "POST", "/users", { ...json, ...headers }, { ...account, source: "wallet" })
const signUp = async () => {
  const account = device()
  expect((await register(account)).status).toBe(200)
  const { body } = await send(service, "POST", "/auth/token", json, account)
  return { account, access: body.access_token as string, refresh: body.refresh_token as string }
}

describe("a wallet that creates an account for its device", () => {
  it("logs in first, gets 401, registers and logs in again", async () => {
    const account = device()
    const login = () => send(service, "POST", "/auth/token", json, account)
    expect((await login()).status).toBe(401)
    const registered = await register(account, { "X-Bypass-Token": "token-of-the-app" })
    expect(registered.status).toBe(200)
    const answer = await login()
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refresh_token: expect.stringMatching(/./),
      has_password: true,
    })
    expect(answer.body.requires_2fa ?? null).toBeNull()
  })

  it("recognises from 422 and the code `uniqueness` that the device is registered", async () => {
    const account = device()
    await register(account)
    const answer = await register(account)
    expect(answer.status).toBe(422)
    expect(answer.body.error).toEqual(expect.any(String))
    expect(answer.body.fields.alternate_id[0]).toMatchObject({
      code: "uniqueness",
      message: expect.any(String),
    })
  })
})

describe("a wallet that registers a device and an email together", () => {
  it("logs in with both in one request", async () => {
    const account = { ...device(), email: `${randomUUID()}@example.com` }
    expect((await register(account)).status).toBe(200)
    const answer = await send(service, "POST", "/auth/token", json, account)
    expect([answer.status, typeof answer.body.access_token]).toEqual([200, "string"])
  })
})

describe("a wallet that gets a first id for its user", () => {
  it("clears the cart with a `null` body, checks out for free and writes a record at once", async () => {
    const { access } = await signUp()
    const id = freshId()
    const cleared = await send(service, "DELETE", "/cart", bearer(access), "null")
    expect(cleared.status).toBe(200)
    expect(cleared.body).toMatchObject({ status: "Draft", order_items: [] })
    await send(service, "POST", "/cart", bearer(access), { items: [{ emoji_id: id }] })

    const order = await send(service, "POST", "/cart/checkout", bearer(access), { method: "Free" })
    expect(order.status).toBe(200)
    expect(order.body.status).toBe("Paid")
    const bought = order.body.order_items.find((item: { item_type: string }) => item.item_type === "EmojiId")
    expect(bought.emoji_id).toBe(id)

    const path = `/emoji_id/${encodeURIComponent(id)}`
    const pubkey = randomBytes(32).toString("hex")
    const linked = await send(service, "PATCH", path, bearer(access), {
      insert: [{ tag: "0x0101", data: pubkey }],
    })
    expect(linked.status).toBe(200)
    // A generated client casts the response to a value and fails if there is no body.
    expect(linked.body).toEqual([id])
    const found = await send(service, "GET", path, json)
    expect(found.body.result).toContainEqual({ tag: "0x0101", data: pubkey, hash: expect.any(String) })
  })
})

describe("a wallet whose access token has expired", () => {
  it("gets 401, refreshes while it still sends the old token, and repeats the request", async () => {
    const { access, refresh } = await signUp()
    const { sub } = JSON.parse(Buffer.from(access.split(".")[1]!, "base64url").toString())
    const expired = await service.runtime.runPromise(
      Effect.flatMap(Tokens, (tokens) =>
        tokens.sign({ sub, sid: randomUUID(), ep: 0, role: "User" }, { kind: "access", ttlSeconds: -60 }),
      ),
    )
    expect((await send(service, "GET", "/account", bearer(expired))).status).toBe(401)
    const renewed = await send(service, "POST", "/auth/token/refresh", bearer(expired), {
      refresh_token: refresh,
    })
    expect(renewed.status).toBe(200)
    expect((await send(service, "GET", "/account", bearer(renewed.body.access_token))).status).toBe(200)
  })

  it("can log in, register another device and look up an id while it still sends the old token", async () => {
    const { account } = await signUp()
    const old = bearer("e30.e30.x")
    expect((await send(service, "POST", "/auth/token", old, account)).status).toBe(200)
    expect((await send(service, "POST", "/users", old, device())).status).toBe(200)
    expect((await send(service, "GET", "/emoji", old)).status).toBe(200)
  })

  it.each(["", "undefined", "eyJ0eXAiOiJKV1QifQ.eyJzdWIiOiJiNmI2ZGE4MSJ9.FZBzoe8"])(
    "gets 401 and a text in `error` for the refresh token %j",
    async (refresh_token) => {
      const answer = await send(service, "POST", "/auth/token/refresh", json, { refresh_token })
      expect(answer.status).toBe(401)
      expect(answer.body.error).toEqual(expect.any(String))
    },
  )
})

describe("a wallet that received a refresh token in its return link", () => {
  it("turns it into an API key and writes its address with that key", async () => {
    const { access, refresh } = await signUp()
    const id = freshId()
    await send(service, "POST", "/cart", bearer(access), { items: [{ emoji_id: id }] })
    await send(service, "POST", "/cart/checkout", bearer(access), { method: "Free" })
    const dart = { ...libraries.dart, "content-type": "application/json; charset=utf-8", accept: "*/*" }

    const token = await send(service, "POST", "/auth/token/refresh", dart, { refresh_token: refresh })
    expect(token.status).toBe(200)
    const authorization = `Bearer ${token.body.access_token}`
    const made = await send(service, "POST", "/api_keys", { ...dart, authorization }, { name: "wallet" })
    expect(made.status).toBe(200)
    expect(made.body.api_key).toEqual(expect.any(String))

    const path = `/emoji_id/${encodeURIComponent(id)}`
    const body = { insert: [{ data: bitcoin, tag: "0x1003" }] }
    const edited = await send(service, "PATCH", path, { ...dart, "x-api-key": made.body.api_key }, body)
    expect(edited.status).toBe(200)
    const found = await send(service, "GET", `${path}/payment?tags=0x1003`, libraries.dart)
    expect(found.body.result["0x1003"].address).toBe(bitcoin)
  })
})
