import { randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { closeCodes, liveLimits } from "../../schema/live-frames.ts"
import { joined, numbers, serveProtocol, transports } from "./protocol-service.ts"

const { emit, over, service } = await serveProtocol()

describe.each(transports)("the live protocol (transport: %s)", (transport) => {
  const { connect, open } = over(transport)
  // Each transport uses different ids, so that its tests do not receive events from tests of the other transport.
  const emoji = transport === "memory" ? "🐙" : "🍕"
  const spelledAt = (n: number) => emoji.repeat(n)

  it("accepts `connect` without a token, and answers `ping`", async () => {
    const client = await connect()
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

  it("reports the user and the expiry of the token in `connected`", async () => {
    const user = await service.user()
    const client = await connect()
    client.send({ type: "connect", token: user.token })
    const connected = await client.take({ type: "connected" })
    expect(connected.user_id).toBe(user.id)
    expect(Date.parse(connected.expires_at)).toBeGreaterThan(Date.now())
    client.close()
  })

  it("answers a `subscribe` that was sent without waiting for `connected`, and sends `connected` before the answer", async () => {
    const user = await service.user()
    const client = await connect()
    client.send({ type: "connect", token: user.token })
    client.send({ type: "subscribe", channel: "cart" })
    client.send({ type: "ping" })
    await client.take({ type: "subscribed", channel: "cart" })
    expect(client.frames[0].type).toBe("connected")
    client.close()
  })

  it("sends the state and then every later event in order", async () => {
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

  it("sends exactly the missed events to a client that resumes", async () => {
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

    // The channel is open now, so the missed events come from the replay buffer.
    const third = await open()
    expect(await joined(third, channel, { epoch, offset: 6 })).toMatchObject({ recovered: true, offset: 6 })
    await third.take({ type: "event", offset: 8 })
    expect(numbers(third, channel)).toEqual([7, 8])
    second.close()
    third.close()
  })

  it("answers `recovered: false` when the epoch differs, the offset is unknown, or missed events are deleted", async () => {
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

  it("accepts a non-canonical spelling of an id, and answers with the canonical spelling", async () => {
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

  it("sends no events after `unsubscribe`", async () => {
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

  it("closes the socket after ten invalid frames", async () => {
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

  it("closes a socket that sends more frames than the limit allows", async () => {
    const client = await open()
    for (let n = 0; n < liveLimits.burstFrames + 200; n++) client.send({ type: "ping" })
    expect(await client.closing).toMatchObject({ code: closeCodes.tooManyFrames })
  })

  it("rejects a subscription above the limit of a socket with `too_many_subscriptions`", async () => {
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

  it("answers a lookup in the order of the ids, and accepts non-canonical spellings", async () => {
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

  // These tests wait for timers, so they run concurrently.
  // Not concurrent, because the epoch of all channels changes.
  it("restarts a subscription when the epoch changes", async () => {
    const channel = `emoji_id:${spelledAt(4)}`
    await emit(channel, 1)
    const client = await open()
    const before = await joined(client, channel)
    await service.sql`select renew_live_epoch()`
    const after = await client.take({ type: "subscribed", channel })
    expect(after).toMatchObject({ recovered: false, offset: 1 })
    expect(after.epoch).not.toBe(before.epoch)
    await emit(channel, 2)
    await client.take({ type: "event", offset: 2 })
    client.close()
  })

  it("answers a second subscriber of a channel without events after the epoch has changed", async () => {
    const channel = "emoji_id:❤️❤️❤️"
    const first = await open()
    const before = await joined(first, channel)
    await service.sql`select renew_live_epoch()`
    const second = await open()
    const after = await joined(second, channel)
    expect(after.epoch).not.toBe(before.epoch)
    expect(await first.take({ type: "subscribed", channel })).toMatchObject({ epoch: after.epoch })
    for (const client of [first, second]) client.close()
  })

  it.concurrent("delivers an event although its wake-up was lost", async () => {
    const channel = `emoji_id:${spelledAt(5)}`
    const client = await open()
    await joined(client, channel)
    await service.sql`select put_events(${JSON.stringify([{ channel, type: "test.happened", data: { n: 1 } }])}::text::jsonb)`
    expect(await client.take({ type: "event", channel })).toMatchObject({ offset: 1 })
    client.close()
  })

  it.concurrent("closes a socket that does not send `connect` in time", async () => {
    const client = await connect()
    client.send({ type: "subscribe", channel: "market" })
    expect(await client.take({ type: "error" })).toMatchObject({ code: "not_connected" })
    expect(await client.closing).toMatchObject({ code: closeCodes.connectTimeout })
  })
})
