import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type EmojiId, parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import { priceInCents } from "../../schema/market/price-curve.ts"
import { Market } from "../../src/market/market.ts"
import type { MarketParameters } from "../../src/market/market-parameters.ts"
import { defaultPriceParameters } from "../../src/market/pricing.ts"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"

const emojiId = (text: string): EmojiId => {
  const id = parseEmojiId(text)
  if (id._tag === "EmojiIdRefused") throw new Error(id.message)
  return id
}

let service: TestService
let admin: TestUser
beforeAll(async () => {
  service = await serve()
  admin = await service.user({ role: "Admin" })
})

const quote = async (...texts: ReadonlyArray<string>) =>
  service.runtime.runPromise(
    Effect.gen(function* () {
      const market = yield* Market
      return yield* market.quote(texts.map(emojiId))
    }),
  )

const claim = (text: string, kind: string, owner: string | null) =>
  service.sql`insert into claim (canonical, kind, holder, owner_id)
              values (${emojiId(text).canonical}, ${kind}, ${randomUUID()}, ${owner})`

describe("a price quote", () => {
  it("contains the availability of each id according to its claim, in the order of the request", async () => {
    await claim("🚀🌊", "owned", admin.id)
    await claim("🌊🚀", "order", null)
    await claim("🌊🌊", "lootbox", null)
    await claim("🚀🚀🌊", "transfer", admin.id)
    const quotes = await quote("🚀🌊", "🌊🚀", "🐶🐱🐶", "🌊🌊", "🚀🚀🌊")
    expect(quotes.map(({ availability }) => availability)).toEqual([
      "Taken",
      "InCart",
      "Available",
      "Taken",
      "Taken",
    ])
    expect(quotes.map(({ available }) => available)).toEqual([false, false, true, false, false])
    const score = rhythmScore(emojiId("🐶🐱🐶"))
    expect(quotes[2]).toMatchObject({
      rhythmScore: score,
      priceCents: priceInCents(score, defaultPriceParameters),
    })
  })

  it("of an empty list of ids is empty", async () => {
    expect(await quote()).toEqual([])
  })
})

describe("price parameters", () => {
  const held: MarketParameters = {
    points: [{ score: 1, price_in_cents: 1234 }],
    coming_soon_lengths: [1],
    unpriced_lengths: [2],
  }

  it("have default values in a new database", async () => {
    const answer = await service.call("GET", "/price_parameters", { token: admin.token })
    expect(answer.body).toEqual({
      points: defaultPriceParameters,
      coming_soon_lengths: [],
      unpriced_lengths: [],
    })
  })

  it("can be read and written only by admins", async () => {
    const user = await service.user()
    expect((await service.call("GET", "/price_parameters", { token: user.token })).status).toBe(403)
    const put = await service.call("PUT", "/price_parameters", { token: user.token, body: held })
    expect(put.status).toBe(403)
    expect((await service.call("GET", "/price_parameters")).status).toBe(401)
  })

  it("are rejected if a higher score has a lower price", async () => {
    const points = [
      { score: 1, price_in_cents: 10 },
      { score: 2, price_in_cents: 9 },
    ]
    const answer = await service.call("PUT", "/price_parameters", {
      token: admin.token,
      body: { ...held, points },
    })
    expect(answer.status).toBe(400)
  })

  it("that are set in one process apply immediately in another process", async () => {
    const one = await serve({}, { database: service.database, peersPossible: true })
    const other = await serve({}, { database: service.database, peersPossible: true })
    const before = await other.call("GET", "/price_parameters", { token: admin.token })
    expect(before.body.points).toEqual(defaultPriceParameters)
    const put = await one.call("PUT", "/price_parameters", { token: admin.token, body: held })
    expect(put.status).toBe(200)
    const after = await other.call("GET", "/price_parameters", { token: admin.token })
    expect(after.body).toEqual(held)
    const quotes = await other.runtime.runPromise(
      Market.use((market) => market.quote(["🐙", "🐙🐶", "🐙🐶🐙", "🚀🌊"].map(emojiId))),
    )
    expect(quotes.map(({ availability, priceCents }) => [availability, priceCents])).toEqual([
      ["ComingSoon", 1234],
      ["NoPrice", null],
      ["Available", 1234],
      ["Taken", null],
    ])
  })
})
