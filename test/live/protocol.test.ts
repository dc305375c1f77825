import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { Publisher } from "../../actors/ports.ts"
import { closeCodes, liveLimits } from "../../schema/live.ts"
import { Callers } from "../../src/services/callers.ts"
import { Tokens } from "../../src/services/tokens.ts"
import { EventsToPlace, type Places } from "../../src/store/placed-events.ts"
import { type LiveClient, liveSocket, memoryLive, type OpenLive } from "../fixtures/live-client.ts"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { freshId, shopper } from "../orders/shopper.ts"

let service: TestService
let publisher: (typeof Publisher)["Service"]
let tokens: (typeof Tokens)["Service"]
let callers: (typeof Callers)["Service"]
const transports: Record<string, OpenLive> = {}

beforeAll(async () => {
  service = await serve({ ALLOWED_ORIGINS: "https://wallet.example" })
  publisher = await service.runtime.runPromise(Publisher)
  tokens = await service.runtime.runPromise(Tokens)
  callers = await service.runtime.runPromise(Callers)
  transports["memory"] = await memoryLive(service.runtime)
  transports["uWebSockets.js"] = liveSocket(service.url)
})

/** Commits events as a turn would, and wakes the subscribers. */
const commit = async (...events: ReadonlyArray<{ channel: string; type: string; data: unknown }>) => {
  const said = new EventsToPlace([events])
  const [row] = await service.sql<[{ places: Places }]>`
    select place_events(${said.json}::text::jsonb) as places`
  publisher.committed(said.placed(row.places).flat())
}
const emit = (channel: string, n: number) => commit({ channel, type: "test.happened", data: { n } })
const numbers = (client: LiveClient, channel: string) =>
  client.frames.filter((f) => f.type === "event" && f.channel === channel).map((f) => f.data.n)

/** An order somebody has begun: its channel. */
const newOrder = async (user: TestUser): Promise<string> => {
  const { body } = await shopper(service, user).add(freshId())
  return body.id
}
const tokenOf = (userId: string, ttlSeconds: number) =>
  service.runtime.runPromise(
    tokens.sign({ sub: userId, sid: randomUUID(), ep: 0, role: "User" }, { kind: "access", ttlSeconds }),
  )

describe.each(["memory", "uWebSockets.js"])("the live protocol over %s", (transport) => {
  // Each transport has ids of its own, so that no test sees another's events.
  const emoji = transport === "memory" ? "🐙" : "🍕"
  const spelledAt = (n: number) => emoji.repeat(n)
  const open = async (token?: string): Promise<LiveClient> => {
    const client = await transports[transport]!()
    client.send({ type: "connect", ...(token === undefined ? {} : { token }) })
    await client.take({ type: "connected" })
    return client
  }
  const joined = async (client: LiveClient, channel: string, after?: { epoch: string; offset: number }) => {
    client.send({ type: "subscribe", channel, ...after })
    return client.take({ type: "subscribed", channel })
  }

  it("greets a visitor without a token and answers pings", async () => {
    const client = await transports[transport]!()
    client.send({ type: "connect" })
    expect(await client.take({ type: "connected" })).toEqual({
      type: "connected",
      user_id: null,
      expires_at: null,
    })
    client.send({ type: "ping", id: "a" })
    expect(await client.take({ type: "pong" })).toEqual({ type: "pong", id: "a" })
    client.close()
  })

  it("says who the token is and when it ends", async () => {
    const user = await service.user()
    const client = await transports[transport]!()
    client.send({ type: "connect", token: user.token })
    const connected = await client.take({ type: "connected" })
    expect(connected.user_id).toBe(user.id)
    expect(Date.parse(connected.expires_at)).toBeGreaterThan(Date.now())
    client.close()
  })

  it("answers frames sent along with the first one, after it", async () => {
    const user = await service.user()
    const client = await transports[transport]!()
    client.send({ type: "connect", token: user.token })
    client.send({ type: "subscribe", channel: "cart" })
    client.send({ type: "ping" })
    await client.take({ type: "subscribed", channel: "cart" })
    expect(client.frames[0].type).toBe("connected")
    client.close()
  })

  it("gives a state and then every later event in order", async () => {
    const channel = `emoji_id:${spelledAt(1)}`
    const client = await open()
    const subscribed = await joined(client, channel)
    expect(subscribed).toMatchObject({
      recovered: false,
      offset: 0,
      state: { status: false, canonical: spelledAt(1) },
    })
    for (let n = 1; n <= 20; n++) await emit(channel, n)
    const last = await client.take({ type: "event", offset: 20 })
    expect(last).toMatchObject({ channel, event: "test.happened", data: { n: 20 } })
    expect(numbers(client, channel)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    client.close()
  })

  it("gives exactly what was missed to whoever comes back with a position", async () => {
    const channel = `emoji_id:${spelledAt(2)}`
    const first = await open()
    const { epoch } = await joined(first, channel)
    await emit(channel, 1)
    await emit(channel, 2)
    await first.take({ type: "event", offset: 2 })
    first.close()
    for (let n = 3; n <= 7; n++) await emit(channel, n)

    const second = await open()
    const back = await joined(second, channel, { epoch, offset: 2 })
    expect(back).toMatchObject({ recovered: true, offset: 2, epoch })
    expect(back).not.toHaveProperty("state")
    await emit(channel, 8)
    await second.take({ type: "event", offset: 8 })
    expect(numbers(second, channel)).toEqual([3, 4, 5, 6, 7, 8])

    // The feed is running now: what is missed comes from memory.
    const third = await open()
    expect(await joined(third, channel, { epoch, offset: 6 })).toMatchObject({ recovered: true, offset: 6 })
    await third.take({ type: "event", offset: 8 })
    expect(numbers(third, channel)).toEqual([7, 8])
    second.close()
    third.close()
  })

  it("says recovered: false when the position is of another epoch, beyond the head, or behind a hole", async () => {
    const channel = `emoji_id:${spelledAt(3)}`
    for (let n = 1; n <= 5; n++) await emit(channel, n)
    const client = await open()
    const { epoch } = await joined(client, channel)
    const again = (after: { epoch: string; offset: number }) => joined(client, channel, after)
    expect(await again({ epoch: randomUUID(), offset: 5 })).toMatchObject({ recovered: false, offset: 5 })
    expect(await again({ epoch, offset: 6 })).toMatchObject({ recovered: false, offset: 5 })
    expect(await again({ epoch, offset: 3 })).toMatchObject({ recovered: true, offset: 3 })
    await service.sql`delete from event where channel = ${channel} and "offset" = 2`
    const holed = await again({ epoch, offset: 1 })
    expect(holed).toMatchObject({ recovered: false, offset: 5 })
    expect(holed).toHaveProperty("state")
    client.close()
  })

  it("knows every spelling of an id and answers with the canonical one", async () => {
    const client = await open()
    client.send({ type: "subscribe", channel: "emoji_id:❤" })
    const subscribed = await client.take({ type: "subscribed" })
    expect(subscribed).toMatchObject({ channel: "emoji_id:❤️", requested: "emoji_id:❤" })
    client.send({ type: "unsubscribe", channel: "emoji_id:❤" })
    expect(await client.take({ type: "unsubscribed" })).toEqual({
      type: "unsubscribed",
      channel: "emoji_id:❤️",
      reason: "asked",
    })
    client.close()
  })

  it("sends nothing of a channel that was left", async () => {
    const channel = `emoji_id:${spelledAt(6)}`
    const client = await open()
    await joined(client, channel)
    client.send({ type: "unsubscribe", channel })
    await client.take({ type: "unsubscribed" })
    const other = await open()
    await joined(other, channel)
    await emit(channel, 1)
    await other.take({ type: "event", channel })
    client.send({ type: "ping" })
    await client.take({ type: "pong" })
    expect(numbers(client, channel)).toEqual([])
    client.close()
    other.close()
  })

  it("keeps own channels to their user", async () => {
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

  it("opens an order to its owner and to admins, and tells others nothing of it", async () => {
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

  it("sends a former owner nothing after the change", async () => {
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

  it("takes back what a lost role had opened", async () => {
    const [owner, admin] = [await service.user(), await service.user({ role: "Admin" })]
    const channel = `order:${await newOrder(owner)}`
    const client = await open(admin.token)
    await joined(client, channel)
    await service.sql`update app_user set role = 'User' where id = ${admin.id}`
    await service.runtime.runPromise(callers.changed(admin.id))
    expect(await client.take({ type: "unsubscribed" })).toMatchObject({ channel, reason: "not_allowed" })
    client.close()
  })

  it("closes at once when the user logs out, and not the sockets of others", async () => {
    const [leaving, staying] = [await service.user(), await service.user()]
    const [first, second] = [await open(leaving.token), await open(staying.token)]
    await service.sql`update app_user set token_epoch = token_epoch + 1 where id = ${leaving.id}`
    await service.runtime.runPromise(callers.changed(leaving.id))
    expect(await first.closing).toMatchObject({ code: closeCodes.sessionEnded })
    second.send({ type: "ping" })
    await second.take({ type: "pong" })
    second.close()
  })

  it("takes an API key within its scopes, and closes when the key is deleted", async () => {
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

  it("refuses a token that is forged, of another kind, or another user's", async () => {
    const [user, other] = [await service.user(), await service.user()]
    const pending = await service.runtime.runPromise(
      tokens.sign(
        { sub: user.id, sid: randomUUID(), ep: 0, role: "User" },
        { kind: "pending", ttlSeconds: 60 },
      ),
    )
    for (const token of ["nonsense", `${user.token.slice(0, -3)}abc`, pending]) {
      const client = await transports[transport]!()
      client.send({ type: "connect", token })
      expect(await client.closing).toMatchObject({ code: closeCodes.unauthorized })
    }
    const client = await open(user.token)
    client.send({ type: "connect", token: other.token })
    expect(await client.take({ type: "error" })).toMatchObject({ code: "user_changed" })
    client.close()
  })

  it("forgives a few frames it does not understand, then closes", async () => {
    const client = await open()
    const bad = [
      "",
      "nonsense",
      "[]",
      "null",
      '{"type":"fly"}',
      '{"type":"subscribe"}',
      '{"type":"subscribe","channel":7}',
    ]
    for (const text of bad) {
      client.sendText(text)
      expect(await client.take({ type: "error" })).toMatchObject({ code: "bad_frame" })
    }
    for (let n = bad.length; n < 10; n++)
      client.sendText('{"type":"subscribe","channel":"market","offset":-1}')
    expect(await client.closing).toMatchObject({ code: closeCodes.badFrames })
  })

  it("closes a socket that floods it", async () => {
    const client = await open()
    for (let n = 0; n < liveLimits.burstFrames + 200; n++) client.send({ type: "ping" })
    expect(await client.closing).toMatchObject({ code: closeCodes.tooManyFrames })
  })

  it("limits the subscriptions of a socket", async () => {
    const user = await service.user()
    const client = await open(user.token)
    const tails = ["🐙", "🍕", "🌊", "🚀"]
    const many = Array.from({ length: liveLimits.subscriptions + 1 }, (_, n) => {
      const digits = [n % 4, (n >> 2) % 4, (n >> 4) % 4, (n >> 6) % 4, (n >> 8) % 4]
      return `emoji_id:${digits.map((d) => tails[d]).join("")}`
    })
    for (const channel of many) client.send({ type: "subscribe", channel })
    expect(await client.take({ type: "error" })).toMatchObject({
      code: "too_many_subscriptions",
      channel: many.at(-1),
    })
    client.close()
  })

  it("looks ids up in any spelling, in the order of the question", async () => {
    const owner = await service.user()
    const id = transport === "memory" ? "🌊🚀" : "🚀🌊"
    await service.sql`insert into emoji_id (canonical, owner_id, pubkey, source) values (${id}, ${owner.id}, 'ab', 'test')`
    await service.sql`insert into record (canonical, hash, tag, data) values (${id}, 'h', ${0x1003}, 'address')`
    const client = await open()
    client.send({ type: "lookup", id: "q", emoji_ids: ["nope", id, "❤🌊"] })
    const { results, ...frame } = await client.take({ type: "records" })
    expect(frame).toEqual({ type: "records", id: "q" })
    expect(results[0]).toMatchObject({
      emoji_id: "nope",
      canonical: null,
      status: false,
      error: { code: "unsupported_emoji" },
    })
    expect(results[1]).toEqual({
      emoji_id: id,
      canonical: id,
      status: true,
      result: [{ tag: "0x1003", data: "address", hash: "h" }],
      error: null,
      pubkey: "ab",
      version: 1,
    })
    expect(results[2]).toMatchObject({ canonical: "❤️🌊", status: false, error: { code: "not_registered" } })
    client.close()
  })

  // These wait for a clock, so they wait together.
  it.concurrent("starts everybody over when the epoch of the database is renewed", async () => {
    const channel = `emoji_id:${spelledAt(4)}`
    await emit(channel, 1)
    const client = await open()
    const before = await joined(client, channel)
    await service.sql`update channel set epoch = gen_random_uuid() where name = ${channel}`
    const after = await client.take({ type: "subscribed", channel })
    expect(after).toMatchObject({ recovered: false, offset: 1 })
    expect(after.epoch).not.toBe(before.epoch)
    await emit(channel, 2)
    await client.take({ type: "event", offset: 2 })
    client.close()
  })

  it.concurrent("finds events whose wake-up got lost", async () => {
    const channel = `emoji_id:${spelledAt(5)}`
    const client = await open()
    await joined(client, channel)
    await service.sql`select put_events(${JSON.stringify([{ channel, type: "test.happened", data: { n: 1 } }])}::text::jsonb)`
    expect(await client.take({ type: "event", channel })).toMatchObject({ offset: 1 })
    client.close()
  })

  it.concurrent("closes when the token ends, unless a new one came before", async () => {
    const user = await service.user()
    const [short, renewed] = [await tokenOf(user.id, 2), await tokenOf(user.id, 2)]
    const [first, second] = [await open(short), await open(renewed)]
    second.send({ type: "connect", token: user.token })
    await second.take({ type: "connected" })
    expect(await first.closing).toMatchObject({ code: closeCodes.tokenExpired })
    second.send({ type: "ping" })
    await second.take({ type: "pong" })
    second.close()
  })

  it.concurrent("closes a socket that does not introduce itself", async () => {
    const client = await transports[transport]!()
    client.send({ type: "subscribe", channel: "market" })
    expect(await client.take({ type: "error" })).toMatchObject({ code: "not_connected" })
    expect(await client.closing).toMatchObject({ code: closeCodes.connectTimeout })
  })
})
