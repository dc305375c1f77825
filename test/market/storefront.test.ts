import { beforeAll, describe, expect, it } from "vitest"
import { type DirectoryService, emojiId, serveDirectory } from "../directory/directory-service.ts"
import { expectContract } from "../fixtures/contract.ts"
import type { TestUser } from "../fixtures/service.ts"

let service: DirectoryService
let user: TestUser
beforeAll(async () => {
  service = await serveDirectory()
  user = await service.user()
})
const get = (path: string) => service.call("GET", path, { token: user.token })
const search = (text: string) => get(`/emoji_id/search?emoji_id=${encodeURIComponent(text)}`)

describe("a search", () => {
  it("returns the price and availability of an id, and alternatives that are available", async () => {
    const { body, status } = await search("🐙🐶🐙🐱")
    expect(status).toBe(200)
    expectContract("SearchResult", body)
    expect(body.result).toMatchObject({
      emoji_id: "🐙🐶🐙🐱",
      availability: "Available",
      available: true,
      length: 4,
      short_names: ["octopus", "dog", "octopus", "cat"],
    })
    expect(body.result.price).toBeGreaterThan(0)
    expect(body.result.stats[0].value).toBe(-1)
    expect(body.alternates.length).toBeGreaterThan(5)
    expect(body.alternates.map((one: { available: boolean }) => one.available)).not.toContain(false)
  })

  it("never returns a registered or claimed id as an alternative", async () => {
    const offered = (await search("🚀🌊🚀")).body.alternates.map((one: { emoji_id: string }) => one.emoji_id)
    const [first, second] = offered
    await service.register(first, user)
    await service.sql`insert into claim (canonical, kind, holder) values (${second}, 'order', ${user.id})`
    const after = (await search("🚀🌊🚀")).body.alternates.map((one: { emoji_id: string }) => one.emoji_id)
    expect(after).not.toContain(first)
    expect(after).not.toContain(second)
    const taken = (await search(first)).body.result
    expect(taken).toMatchObject({ availability: "Taken", available: false, generation: 0 })
    expect(taken.stats[0].value).toBe(0)
    expect((await search(second)).body.result.availability).toBe("InCart")
  })

  it("accepts any spelling of an id, and names an unsupported character in the error", async () => {
    expect((await search("👋🏿💚")).body.result.emoji_id).toBe("👋❤️")
    const bad = await search("🚀z")
    expect([bad.status, bad.body.code, bad.body.character]).toEqual([400, "unsupported_emoji", "z"])
    expect((await get("/emoji_id/search")).status).toBe(400)
    expect((await service.call("GET", "/emoji_id/search?emoji_id=🚀")).status).toBe(401)
  })
})

describe("random ids", () => {
  it("are different from each other, and as many as requested", async () => {
    const { body } = await get("/emoji_id/random")
    expectContract("RandomResult", body)
    const ids = body.result.map((one: { emoji_id: string }) => one.emoji_id)
    expect(new Set(ids).size).toBe(10)
    for (const text of ids) expect(emojiId(text).canonical).toBe(text)
    expect((await get("/emoji_id/random?limit=3")).body.result).toHaveLength(3)
    expect((await get("/emoji_id/random?limit=51")).status).toBe(400)
  })

  it("are within the requested lengths and prices", async () => {
    const offers = async (limits: string) => (await get(`/emoji_id/random?limit=20&${limits}`)).body.result
    for (const { length } of await offers("min_length=2&max_length=2")) expect(length).toBe(2)
    const between = await offers("min_price=1000&max_price=5000")
    expect(between).toHaveLength(20)
    for (const { price } of between) expect(price >= 1000 && price <= 5000).toBe(true)
    const [dear] = await offers("min_price=300000")
    expect(dear.price).toBeGreaterThanOrEqual(300_000)
    expect(await offers("min_price=600000")).toEqual([])
    expect(await offers("min_length=6&min_price=100000")).toEqual([])
    const { body, status } = await get("/emoji_id/random?min_length=4&max_length=3")
    expect([status, Object.keys(body.fields)]).toEqual([400, ["max_length"]])
    expect((await get("/emoji_id/random?max_length=7")).status).toBe(400)
  })
})

describe("random ids while some lengths are not for sale", () => {
  const hold = async (
    coming_soon_lengths: ReadonlyArray<number>,
    unpriced_lengths: ReadonlyArray<number>,
  ) => {
    const { token } = service.admin
    const { points } = (await service.call("GET", "/price_parameters", { token })).body
    const body = { points, coming_soon_lengths, unpriced_lengths }
    await service.call("PUT", "/price_parameters", { token, body })
  }

  it.each([
    { coming: [5], unpriced: [4], left: 3 },
    { coming: [1, 2, 3], unpriced: [4, 5], left: 6 },
  ])(
    "are as many as requested and all have length $left (not for sale: $coming and $unpriced)",
    async ({ coming, left, unpriced }) => {
      await hold(coming, unpriced)
      const { body } = await get("/emoji_id/random?limit=50")
      expect(body.result).toHaveLength(50)
      expect(new Set(body.result.map((one: { length: number }) => one.length))).toEqual(new Set([left]))
      await hold([], [])
    },
  )
})

describe("recently purchased ids", () => {
  it("are the ids that were registered by orders, newest first", async () => {
    await service.register("🐻🐻", user)
    for (const [place, text] of ["🦊🐻", "🐻🦊"].entries()) {
      await service.register(text, user)
      await service.sql`update emoji_id set source = 'order:x', registered_at = now() + ${place} * interval '1 second'
                         where canonical = ${text}`
    }
    const { body } = await get("/emoji_id/recent")
    expectContract("RecentlyPurchasedResult", body)
    expect(body.result.map((one: { emoji_id: string }) => one.emoji_id)).toEqual(["🐻🦊", "🦊🐻"])
    expect((await service.call("GET", "/emoji_id/recent")).status).toBe(401)
  })
})
