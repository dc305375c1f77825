import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { closeCodes } from "../../schema/live-frames.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { serve, type TestUser } from "../fixtures/service.ts"
import { inTime } from "../fixtures/suite/patience.ts"
import { freshId, shopper } from "../orders/shopper.ts"
import { joined, numbers, serveProtocol, transports } from "./protocol-service.ts"

const { callers, commit, emit, over, service, signed } = await serveProtocol()

/** Creates an order and returns its id. */
const newOrder = async (user: TestUser): Promise<string> => {
  const { body } = await shopper(service, user).add(freshId())
  return body.id
}

describe.each(transports)("the live service (transport: %s)", (transport) => {
  const { connect, open } = over(transport)

  it("delivers the events of a cart only to the user who owns the cart", async () => {
    const [ann, bob] = [await service.user(), await service.user()]
    const [first, second] = [await open(ann.token), await open(bob.token)]
    await joined(first, "cart")
    await joined(second, "cart")
    await commit({ channel: `cart:${ann.id}`, type: "cart.changed", data: { n: 1 } })
    await first.take({ type: "event", channel: "cart" })
    await commit({ channel: `cart:${bob.id}`, type: "cart.changed", data: { n: 2 } })
    await second.take({ type: "event", channel: "cart" })
    expect(numbers(first, "cart")).toEqual([1])
    expect(numbers(second, "cart")).toEqual([2])
    const visitor = await open()
    visitor.send({ type: "subscribe", channel: "cart" })
    expect(await visitor.take({ type: "error" })).toMatchObject({ code: "login_required", channel: "cart" })
    visitor.send({ type: "subscribe", channel: `cart:${ann.id}` })
    expect(await visitor.take({ type: "error" })).toMatchObject({ code: "unknown_channel" })
    for (const client of [first, second, visitor]) client.close()
  })

  it("lets the owner and admins subscribe to an order, and answers other users with `not_found`", async () => {
    const [owner, other, admin] = [
      await service.user(),
      await service.user(),
      await service.user({ role: "Admin" }),
    ]
    const channel = `order:${await newOrder(owner)}`
    const theirs = await open(owner.token)
    expect(await joined(theirs, channel)).toMatchObject({ state: { status: "Draft" } })
    const overseer = await open(admin.token)
    await joined(overseer, channel)
    const stranger = await open(other.token)
    stranger.send({ type: "subscribe", channel })
    expect(await stranger.take({ type: "error" })).toMatchObject({ code: "not_found", channel })
    stranger.send({ type: "subscribe", channel: `order:${randomUUID()}` })
    expect(await stranger.take({ type: "error" })).toMatchObject({ code: "not_found" })
    for (const client of [theirs, overseer, stranger]) client.close()
  })

  it("sends no events of an order to its former owner", async () => {
    const [old, next] = [await service.user(), await service.user()]
    const id = await newOrder(old)
    const channel = `order:${id}`
    const client = await open(old.token)
    await joined(client, channel)
    await service.sql`update entity set owner_id = ${next.id} where kind = 'order' and id = ${id}`
    await emit(channel, 1)
    expect(await client.take({ type: "unsubscribed" })).toEqual({
      type: "unsubscribed",
      channel,
      reason: "not_allowed",
    })
    await emit(channel, 2)
    client.send({ type: "ping" })
    await client.take({ type: "pong" })
    expect(numbers(client, channel)).toEqual([])
    client.close()
  })

  it("unsubscribes a former admin from the order of another user", async () => {
    const [owner, admin] = [await service.user(), await service.user({ role: "Admin" })]
    const channel = `order:${await newOrder(owner)}`
    const client = await open(admin.token)
    await joined(client, channel)
    await service.sql`update app_user set role = 'User' where id = ${admin.id}`
    await service.runtime.runPromise(callers.invalidating(admin.id)(Effect.void))
    expect(await client.take({ type: "unsubscribed" })).toMatchObject({ channel, reason: "not_allowed" })
    client.close()
  })

  it("closes the socket of a user who logs out, and not the socket of another user", async () => {
    const [leaving, staying] = [await service.user(), await service.user()]
    const [first, second] = [await open(leaving.token), await open(staying.token)]
    await service.sql`update app_user set token_epoch = token_epoch + 1 where id = ${leaving.id}`
    await service.runtime.runPromise(callers.invalidating(leaving.id)(Effect.void))
    expect(await first.closing).toMatchObject({ code: closeCodes.sessionEnded })
    second.send({ type: "ping" })
    await second.take({ type: "pong" })
    second.close()
  })

  it("accepts an API key for channels of its scopes only, and closes the socket when the key is deleted", async () => {
    const user = await service.user()
    const made = await service.call("POST", "/api_keys", {
      token: user.token,
      body: { name: "live", scopes: ["cart:show"] },
    })
    expect(made.status).toBe(200)
    const client = await open(made.body.api_key)
    await joined(client, "cart")
    client.send({ type: "subscribe", channel: "transfers" })
    expect(await client.take({ type: "error" })).toMatchObject({ code: "forbidden", channel: "transfers" })
    const gone = await service.call("DELETE", `/api_keys/${made.body.id}`, { token: user.token })
    expect(gone.status).toBe(200)
    expect(await client.closing).toMatchObject({ code: closeCodes.sessionEnded })
  })

  it("rejects a forged token, the token of an unfinished login, and a change to the token of another user", async () => {
    const [user, other] = [await service.user(), await service.user()]
    const pending = await signed(user.id, { kind: "pending", ttlSeconds: 60 })
    for (const token of ["nonsense", `${user.token.slice(0, -3)}abc`, pending]) {
      const client = await connect()
      client.send({ type: "connect", token })
      expect(await client.closing).toMatchObject({ code: closeCodes.unauthorized })
    }
    const client = await open(user.token)
    client.send({ type: "connect", token: other.token })
    expect(await client.take({ type: "error" })).toMatchObject({ code: "user_changed" })
    client.close()
  })

  it.concurrent("reports when an API key expires, and closes the socket at that time", async () => {
    const user = await service.user()
    const closing = await inTime(2, async (seconds) => {
      const expires_at = new Date(Date.now() + seconds * 1000).toISOString()
      const made = await service.call("POST", "/api_keys", {
        token: user.token,
        body: { name: `short ${seconds}`, scopes: ["cart:show"], expires_at },
      })
      const client = await connect()
      client.send({ type: "connect", token: made.body.api_key })
      const greeting = await Promise.race([client.take({ type: "connected" }), client.closing])
      if ("code" in greeting) return undefined
      expect(greeting).toMatchObject({ user_id: user.id, expires_at })
      return client.closing
    })
    expect(closing).toMatchObject({ code: closeCodes.tokenExpired })
  })

  it.concurrent("closes a socket when its token expires, unless the client has sent a new token", async () => {
    const user = await service.user()
    const [short, renewed] = [
      await signed(user.id, { kind: "access", ttlSeconds: 6 }),
      await signed(user.id, { kind: "access", ttlSeconds: 6 }),
    ]
    const [first, second] = [await open(short), await open(renewed)]
    second.send({ type: "connect", token: user.token })
    await second.take({ type: "connected" })
    expect(await first.closing).toMatchObject({ code: closeCodes.tokenExpired })
    second.send({ type: "ping" })
    await second.take({ type: "pong" })
    second.close()
  })
})

it("`connected` computes the expiry of a token from the current `ACCESS_TOKEN_SECONDS`, even if the token was issued with a longer lifetime", async () => {
  const before = await serve({ ACCESS_TOKEN_SECONDS: "86400" })
  const { token } = await before.user()
  const after = await serve({ ACCESS_TOKEN_SECONDS: "600" }, { database: before.database })
  const client = await liveSocket(after.url)()
  client.send({ type: "connect", token })
  const { expires_at } = await client.take({ type: "connected" })
  const { iat } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())
  expect(Date.parse(expires_at)).toBe((iat + 600) * 1000)
  client.close()
})
