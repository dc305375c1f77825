import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { pruneChannels } from "../../src/live/retention.ts"
import { Events } from "../../src/turns/event-store.ts"
import { serveProtocol } from "./protocol-service.ts"

const { emit, over, service } = await serveProtocol()
const { runtime, sql } = service
const { open: connect } = over("memory")

const open = (name: string, after?: { epoch: string; offset: number }) =>
  runtime.runPromise(Events.use((events) => events.open(name, after, 1000)))
const prune = (settledSeconds = 0) => runtime.runPromise(pruneChannels(settledSeconds))
/** The first run raises the floor for all unused channels, the second one deletes them. */
const pruneAll = async () => {
  await prune()
  await prune()
}
const exists = async (name: string) => (await sql`select 1 from channel where name = ${name}`).length === 1
const expire = (name: string) => sql`delete from event where channel = ${name}`
const floor = async () =>
  (await sql<[{ floor: number }]>`select channel_floor::int as floor from live_epoch`)[0].floor

/** A channel that had `count` events, which are no longer stored. */
const unusedChannel = async (kind: string, count: number): Promise<string> => {
  const name = `${kind}:${randomUUID()}`
  for (let n = 1; n <= count; n++) await emit(name, n)
  await expire(name)
  return name
}

describe("an unused channel", () => {
  it("is deleted, unless it is the channel of an emoji id or the market", async () => {
    const names = await Promise.all(["cart", "order", "session"].map((kind) => unusedChannel(kind, 2)))
    const kept = [await unusedChannel("emoji_id", 2), await unusedChannel("market", 2)]
    const used = `order:${randomUUID()}`
    await emit(used, 1)
    await pruneAll()
    expect(await Promise.all(names.map(exists))).toEqual([false, false, false])
    expect(await Promise.all([...kept, used].map(exists))).toEqual([true, true, true])
  })

  it("never assigns an offset again, so a client that was away detects what it has missed", async () => {
    const name = await unusedChannel("cart", 5)
    const before = await open(name)
    await pruneAll()
    for (let n = 1; n <= 7; n++) await emit(name, n)
    const { epoch, offset } = await open(name)
    expect(epoch).toBe(before.epoch)
    expect(offset).toBe((await floor()) + 7)
    const first = await open(name, { epoch, offset: 0 })
    expect(first.missed).toBeUndefined()
    expect((await open(name, { epoch, offset: offset - 2 })).missed).toHaveLength(2)
    // No other deleted channel had a higher offset, so the client that had received everything is not behind the floor.
    expect((await open(name, before)).missed).toHaveLength(7)
    expect((await open(name, { epoch, offset: before.offset - 1 })).missed).toBeUndefined()
  })

  it("is kept until the floor of its offsets has been raised for long enough", async () => {
    await pruneAll()
    const name = await unusedChannel("order", (await floor()) + 3)
    await prune()
    await prune(3600)
    expect(await exists(name)).toBe(true)
    await prune()
    expect(await exists(name)).toBe(false)
  })

  it("that another statement has locked is skipped, and deleted by the next run", async () => {
    await pruneAll()
    const name = await unusedChannel("order", 1)
    await pruneAll()
    await emit(name, 1)
    await expire(name)
    await prune()
    await sql`update live_epoch set floor_raised_at = '-infinity'`
    await sql.begin(async (q) => {
      await q`select 1 from channel where name = ${name} for update`
      await prune()
    })
    expect(await exists(name)).toBe(true)
    await prune()
    expect(await exists(name)).toBe(false)
  })
})

it("pruning in two processes at the same time deletes each channel once", async () => {
  const names = await Promise.all(Array.from({ length: 30 }, () => unusedChannel("transfer", 1)))
  await prune()
  const parts = await Promise.all(
    Array.from({ length: 4 }, () =>
      runtime.runPromise(
        Events.use((events) => Effect.map(events.pruneChannels("", 10_000, 0), (part) => part?.deleted ?? 0)),
      ),
    ),
  )
  expect(parts.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(names.length)
  expect((await Promise.all(names.map(exists))).filter(Boolean)).toEqual([])
})

it("a connected client whose channel was deleted receives the next event, or the state that contains it", async () => {
  const { email, id, token } = await service.user()
  expect(email).toBeDefined()
  const channel = `cart:${id}`
  await emit(channel, 1)
  const client = await connect(token)
  client.send({ type: "subscribe", channel: "cart" })
  const { offset } = await client.take({ type: "subscribed", channel: "cart" })
  await expire(channel)
  await unusedChannel("order", Number(offset) + 4)
  await pruneAll()
  expect(await exists(channel)).toBe(false)
  await emit(channel, 2)
  const again = await client.take({ type: "subscribed", channel: "cart" })
  expect(again).toMatchObject({ recovered: false, offset: (await floor()) + 1 })
  await emit(channel, 3)
  expect(await client.take({ type: "event", channel: "cart" })).toMatchObject({
    offset: Number(again["offset"]) + 1,
  })
  client.close()
})
