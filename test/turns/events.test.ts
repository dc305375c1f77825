import { randomUUID } from "node:crypto"
import { Effect, Layer, ManagedRuntime } from "effect"
import type postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/postgres/client.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { Events } from "../../src/turns/event-store.ts"
import { createDatabase } from "../fixtures/database.ts"

let sql: postgres.Sql
let events: (typeof Events)["Service"]
let stop: () => Promise<void>

beforeAll(async () => {
  const connection = await createDatabase()
  const options = { connection, poolSize: 4, statementTimeoutMs: 10_000 }
  sql = connect(options)
  const runtime = ManagedRuntime.make(Events.layer.pipe(Layer.provide(Sql.layer(options))))
  events = await runtime.runPromise(Events)
  stop = async () => {
    await runtime.dispose()
    await sql.end()
  }
})
afterAll(() => stop())

const emit = (channel: string, count: number) =>
  sql`select put_events((select jsonb_agg(jsonb_build_object('channel', ${channel}::text, 'type', 'test.happened',
        'data', jsonb_build_object('n', n))) from generate_series(1, ${count}) n))`
const storedOffsets = async (channel: string): Promise<ReadonlyArray<number>> =>
  (
    await sql<Array<{ offset: number }>>`select "offset" from event where channel = ${channel} order by 1`
  ).map((row) => row.offset)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
const open = (name: string, after?: { epoch: string; offset: number }, limit = 1000) =>
  Effect.runPromise(events.open(name, after, limit))

describe("a channel", () => {
  it("without events is at offset 0, and its first event has offset 1", async () => {
    const name = `market:${randomUUID()}`
    const { epoch, offset } = await open(name)
    expect(offset).toBe(0)
    expect(await sql`select 1 from channel where name = ${name}`).toHaveLength(0)
    await emit(name, 2)
    const opening = await open(name, { epoch, offset })
    expect(opening.missed?.map((event) => event.offset)).toEqual([1, 2])
    expect(JSON.parse(opening.missed?.[1]?.data ?? "")).toEqual({ n: 2 })
  })

  it("returns the missed events unless there are too many or the reader's position is unknown", async () => {
    const name = `market:${randomUUID()}`
    await emit(name, 10)
    const { epoch } = await open(name)
    expect((await open(name, { epoch, offset: 5 }, 5)).missed).toHaveLength(5)
    expect((await open(name, { epoch, offset: 4 }, 5)).missed).toBeUndefined()
    expect((await open(name, { epoch, offset: 10 }, 5)).missed).toEqual([])
    expect((await open(name, { epoch, offset: 11 }, 5)).missed).toBeUndefined()
    expect((await open(name, { epoch: randomUUID(), offset: 10 }, 5)).missed).toBeUndefined()
    const stated = await Effect.runPromise(
      events.open(name, undefined, 5, (q) => q`select '{"a": [1]}'::jsonb`),
    )
    expect(JSON.parse(stated.state ?? "")).toEqual({ a: [1] })
  })

  it("is reported to a reader only if it has events that the reader has not seen", async () => {
    const [one, two] = [`market:${randomUUID()}`, `market:${randomUUID()}`]
    await emit(one, 3)
    await emit(two, 3)
    const { epoch } = await open(one)
    const news = await Effect.runPromise(
      events.news([
        { name: one, epoch, offset: 3 },
        { name: two, epoch, offset: 1 },
        { name: "market:absent", epoch, offset: 0 },
      ]),
    )
    expect(news).toMatchObject([{ name: two, offset: 3, events: [{ offset: 2 }, { offset: 3 }] }])
  })

  it("gets a new epoch from `renew_live_epoch`, and other channels get the same epoch", async () => {
    const name = `market:${randomUUID()}`
    await emit(name, 1)
    const before = await open(name)
    await sql`select renew_live_epoch()`
    const after = await open(name)
    expect(after.epoch).not.toBe(before.epoch)
    expect((await open(`market:${randomUUID()}`)).epoch).toBe(after.epoch)
    expect((await open(name, before)).missed).toBeUndefined()
  })
})

describe("trimming events", () => {
  const trimOld = (keepHours: number, batch: number) => Effect.runPromise(events.trimOld(keepHours, batch))
  const trim = (name: string, keep: number, batch: number) =>
    Effect.runPromise(events.trimChannels([name], keep, batch))

  it("deletes expired events in batches, and a reader can detect that it missed a deleted event", async () => {
    const name = `market:${randomUUID()}`
    await emit(name, 10)
    await sql`update event set at = now() - interval '3 hours' where channel = ${name} and "offset" <= 6`
    const { epoch } = await open(name)
    expect(await trimOld(2, 4)).toBe(4)
    expect(await trimOld(2, 4)).toBe(2)
    expect(await trimOld(2, 4)).toBe(0)
    expect(await storedOffsets(name)).toEqual(range(7, 10))
    expect((await open(name, { epoch, offset: 5 })).missed).toBeUndefined()
    expect((await open(name, { epoch, offset: 6 })).missed).toHaveLength(4)
  })

  it("keeps the given number of newest events of one channel, and all events of other channels", async () => {
    const name = `market:${randomUUID()}`
    const other = `market:${randomUUID()}`
    await emit(name, 30)
    await emit(other, 10)
    while ((await trim(name, 8, 5)) > 0) {}
    expect(await storedOffsets(name)).toEqual(range(23, 30))
    expect(await storedOffsets(other)).toEqual(range(1, 10))
  })

  it("keeps exactly the newest events when it runs several times concurrently", async () => {
    const name = `market:${randomUUID()}`
    await emit(name, 200)
    await Promise.all(range(1, 8).map(() => trim(name, 50, 100)))
    while ((await trim(name, 50, 100)) > 0) {}
    expect(await storedOffsets(name)).toEqual(range(151, 200))
  })
})

describe("events stored together", () => {
  interface LocalPublish {
    readonly channel: string
    readonly n: number
  }
  const place = async (given: ReadonlyArray<LocalPublish>) => {
    const made = given.map(({ channel, n }) => ({ channel, type: "test.happened", data: { n } }))
    const [row] = await sql<
      [{ places: { readonly epoch: string; readonly offsets: ReadonlyArray<number> } }]
    >`
      select place_events(${JSON.stringify(made)}::text::jsonb) as places`
    return row.places
  }
  const read = async (channel: string) =>
    (
      await sql<Array<{ n: number }>>`
        select (data->>'n')::int as n from event where channel = ${channel} order by "offset"`
    ).map(({ n }) => n)

  // At most eight events that are sorted by channel use one code path (place_events). All others use
  // place_many_events.
  it.each([
    ["few events, sorted by channel", "ab", 3],
    ["few events, not sorted by channel", "ba", 3],
    ["many events, not sorted by channel", "ba", 10],
  ])("get the next offsets of their channels, returned in the given order (%s)", async (_, order, each) => {
    const key = randomUUID()
    const given = [...order].flatMap((name) =>
      Array.from({ length: each }, (_, n) => ({ channel: `market:${key}:${name}`, n })),
    )
    await emit(given[0]!.channel, 2)
    const { epoch, offsets } = await place(given)
    expect(offsets).toEqual([...range(3, each + 2), ...range(1, each)])
    expect(epoch).toBe((await open(given[0]!.channel)).epoch)
    expect(await read(given[each]!.channel)).toEqual(range(0, each - 1))
    expect((await read(given[0]!.channel)).slice(2)).toEqual(range(0, each - 1))
  })

  it.each([2, 20])(
    "that alternate between two channels keep their order (%i events per channel)",
    async (count) => {
      const key = randomUUID()
      const given = range(1, count).flatMap((n) => [
        { channel: `market:${key}:b`, n },
        { channel: `market:${key}:a`, n },
      ])
      const { offsets } = await place(given)
      expect(offsets).toEqual(range(1, count).flatMap((n) => [n, n]))
      expect(await read(`market:${key}:a`)).toEqual(range(1, count))
      expect(await read(`market:${key}:b`)).toEqual(range(1, count))
    },
  )

  it.each([1, 9])(
    "get the epoch of the database, also in channels from before its renewal (%i events per channel)",
    async (each) => {
      const key = randomUUID()
      const given = ["a", "b"].flatMap((name) =>
        Array.from({ length: each }, (_, n) => ({ channel: `market:${key}:${name}`, n })),
      )
      const { epoch } = await place(given)
      const [renewed] = await sql<[{ epoch: string }]>`select renew_live_epoch() as epoch`
      expect(renewed.epoch).not.toBe(epoch)
      expect((await place(given)).epoch).toBe(renewed.epoch)
      const after = await open(`market:${key}:a`)
      expect([after.epoch, after.offset]).toEqual([renewed.epoch, 2 * each])
    },
  )
})
