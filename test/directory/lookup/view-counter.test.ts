import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { emojis } from "../../../schema/directory/emoji.ts"
import { EmojiId } from "../../../schema/directory/emoji-id.ts"
import { Lookups } from "../../../src/directory/lookup/lookups.ts"
import { ViewCounter } from "../../../src/directory/lookup/view-counter.ts"
import { expectContract } from "../../fixtures/contract.ts"
import type { TestUser } from "../../fixtures/service.ts"
import { type DirectoryService, serveDirectory } from "../directory-service.ts"

let service: DirectoryService
let user: TestUser
beforeAll(async () => {
  service = await serveDirectory()
  user = await service.user()
})

const flush = (of = service) => of.runtime.runPromise(ViewCounter.use((views) => views.flush))
const stats = async (text: string, of = service) =>
  (await of.call("GET", `/emoji_id/${encodeURIComponent(text)}/stats`, { token: user.token })).body
const viewsOf = async (text: string, of = service): Promise<number> =>
  (await stats(text, of)).metrics[0].value

describe("views", () => {
  it("are counted for every form of lookup, cached or not, and stored in one row per day", async () => {
    const id = "🍎🍎"
    await service.register(id, user)
    for (let times = 0; times < 5; times++) await service.lookup(id)
    await service.call("GET", `/emoji_id/${id}/BTC`)
    await service.call("GET", `/emoji_id/${id}?tags=0x1003`)
    await service.call("GET", `/emoji_id/${id}/payment`)
    await service.call("GET", `/emoji_id/${id}/payment`)
    await service.call("POST", "/emoji_id/lookup", { body: { emoji_ids: [id] } })
    const etag = (await service.lookup(id)).headers.get("etag") ?? ""
    await service.call("GET", `/emoji_id/${id}`, { headers: { "If-None-Match": etag } })
    await flush()
    expect(await viewsOf(id)).toBe(12)
    const rows = await service.sql`select views from emoji_id_view where canonical = ${id}`
    expect(rows).toHaveLength(1)
  })

  it("are returned as the sum of the last 28 days and for each day", async () => {
    const id = "🍎🐶"
    await service.register(id, user)
    await service.sql`insert into emoji_id_view (canonical, day, views)
                      values (${id}, current_date, 1), (${id}, current_date - 27, 10), (${id}, current_date - 28, 100)`
    const body = await stats(id)
    expectContract("EmojiStatsResponse", body)
    expect(body.emoji_id).toBe(id)
    expect(
      body.metrics.map(({ metric, value }: { metric: string; value: number }) => [metric, value]),
    ).toEqual([
      ["views", 11],
      ["daily_views", 1],
      ["daily_views", 10],
    ])
    expect((await service.lookup(id)).body.stats[0].value).toBe(11)
    expect((await service.call("GET", `/emoji_id/${id}/stats`)).status).toBe(401)
    expect((await service.call("GET", "/emoji_id/🍎🐱/stats", { token: user.token })).status).toBe(404)
  })

  it("appear in the cached response of a frequently requested id", async () => {
    const id = "🍎🐭"
    await service.register(id, user)
    await service.lookup(id)
    await flush()
    await expect
      .poll(async () => (await service.lookup(id)).body.stats[0].value, { interval: 300 })
      .toBeGreaterThan(0)
  })

  it("of unregistered ids are not stored", async () => {
    for (let times = 0; times < 3; times++) await service.lookup("🍎🦊")
    await flush()
    expect(await service.sql`select 1 from emoji_id_view where canonical = '🍎🦊'`).toHaveLength(0)
  })

  it("that a process writes twice with the same batch number are counted once", async () => {
    const id = "🍎🐻"
    await service.register(id, user)
    const put = (number: number) =>
      service.sql`select put_views('00000000-0000-0000-0000-000000000001', ${number}, ${[id]}::text[], ${[5]}::bigint[])`
    await put(1)
    await put(1)
    await put(2)
    expect(await viewsOf(id)).toBe(10)
  })

  it("are not lost when the service is restarted", async () => {
    const id = "🍎🐼"
    const first = await serveDirectory({}, { database: service.database })
    await first.register(id, user)
    for (let times = 0; times < 7; times++) await first.lookup(id)
    await first.stop()
    const second = await serveDirectory({}, { database: service.database })
    await second.lookup(id)
    await flush(second)
    expect(await viewsOf(id, second)).toBe(8)
  })
})

describe("ten thousand lookups of unregistered ids", () => {
  it("stay within the memory limit of the cache, and the newest id is answered from the cache", async () => {
    const small = await serveDirectory({ LOOKUP_CACHE_MB: "1" }, { database: service.database })
    const some = emojis.slice(0, 100)
    const ids = some.flatMap((a) => some.map((b) => new EmojiId([a.index, b.index, b.index])))
    const [{ bytes, ids: held }, known] = await small.runtime.runPromise(
      Effect.gen(function* () {
        const lookups = yield* Lookups
        yield* Effect.forEach(ids, (id) => lookups.view(id), { concurrency: 500, discard: true })
        const last = ids.at(-1)!.canonical
        const view = { getParameter: () => last, getQuery: () => "", getHeader: () => "" }
        return [lookups.stats(), lookups.prepared.lookup(view)] as const
      }),
    )
    expect(ids.length).toBe(10_000)
    expect(bytes).toBeLessThanOrEqual(1024 * 1024)
    expect(held).toBeGreaterThan(1_000)
    expect(known?.head.status).toBe("404 Not Found")
    expect((await small.lookup(ids.at(-1)!.canonical)).status).toBe(404)
  })
})
