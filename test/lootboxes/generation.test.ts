import { Effect, Exit } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { LootBoxTypeConfig } from "../../schema/lootboxes/lootbox.ts"
import { checkTypeConfig, drawBounds, drawSlots } from "../../src/lootboxes/draw.ts"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"

/** Returns a random number generator with a fixed seed. */
const seeded = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const config = (facts: Partial<LootBoxTypeConfig> = {}): LootBoxTypeConfig => ({
  size: 5,
  min_length: 4,
  max_length: 6,
  min_base_score: 10,
  max_base_score: 40,
  guarantees: [],
  weights: [],
  ...facts,
})

/** Computes Pearson's chi-squared statistic of the drawn score ranges against their expected frequencies. */
const chiSquare = (
  weighted: LootBoxTypeConfig,
  chances: ReadonlyArray<number>,
  draws: number,
  seed: number,
) => {
  const random = seeded(seed)
  const counts = new Map<number, number>()
  for (let n = 0; n < draws; n++) {
    const { min_score } = drawBounds(weighted, random)
    counts.set(min_score, (counts.get(min_score) ?? 0) + 1)
  }
  const bounds = [...weighted.weights.map(({ min_score }) => min_score), weighted.min_base_score]
  return chances.reduce((sum, chance, place) => {
    const expected = chance * draws
    const seen = counts.get(bounds[place]!) ?? 0
    return (
      sum + (expected === 0 ? (seen === 0 ? 0 : Number.POSITIVE_INFINITY) : (seen - expected) ** 2 / expected)
    )
  }, 0)
}

describe("the weights of a lootbox type", () => {
  // With three degrees of freedom, the statistic exceeds 16.27 by chance in one of a thousand runs. The seeds are
  // fixed, so the result does not vary.
  const limit = 16.27
  const weights = [
    { ipr: 4, min_score: 41, max_score: 60 },
    { ipr: 20, min_score: 61, max_score: 75 },
    { ipr: 100, min_score: 76, max_score: 90 },
  ]

  it.each([1, 2, 3])(
    "each apply with the probability 1/`ipr`, and slots without a weight use the base score range (seed %i)",
    (seed) => {
      const weighted = config({ weights })
      expect(chiSquare(weighted, [0.25, 0.05, 0.01, 0.69], 200_000, seed)).toBeLessThan(limit)
      // This shows that the test is sensitive enough: slightly different chances give a statistic above the limit.
      expect(chiSquare(weighted, [0.27, 0.05, 0.01, 0.67], 200_000, seed)).toBeGreaterThan(limit)
    },
  )

  it("whose chances sum to more than 1 are scaled down proportionally", () => {
    const greedy = config({
      weights: [
        { ipr: 1, min_score: 41, max_score: 60 },
        { ipr: 2, min_score: 61, max_score: 75 },
        { ipr: 0.5, min_score: 76, max_score: 90 },
      ],
    })
    expect(chiSquare(greedy, [1 / 3.5, 0.5 / 3.5, 2 / 3.5, 0], 100_000, 4)).toBeLessThan(limit)
  })

  it("do not apply to guaranteed slots", () => {
    const sure = config({
      size: 6,
      guarantees: [
        { count: 2, min_score: 70, max_score: 75 },
        { count: 1, min_score: 90, max_score: 95 },
      ],
      weights: [{ ipr: 1, min_score: 41, max_score: 60 }],
    })
    expect(drawSlots(sure, seeded(5)).map(({ min_score }) => min_score)).toEqual([70, 70, 90, 41, 41, 41])
  })
})

describe("the configuration of a lootbox type", () => {
  const faults = (facts: Partial<LootBoxTypeConfig>) => {
    const exit = Effect.runSyncExit(checkTypeConfig(config(facts), seeded(6)))
    return Exit.isSuccess(exit) ? [] : Object.keys((exit.cause.reasons[0] as never)["error"]["fields"])
  }
  it("is rejected with the name of the faulty field if no lootbox can be generated from it", () => {
    expect(faults({})).toEqual([])
    expect(faults({ size: 0 })).toEqual(["config.size"])
    expect(faults({ size: 51 })).toEqual(["config.size"])
    expect(faults({ min_length: 5, max_length: 4 })).toEqual(["config.min_length"])
    expect(faults({ max_length: 7 })).toEqual(["config.min_length"])
    expect(faults({ min_base_score: 0 })).toEqual(["config.min_base_score"])
    expect(faults({ min_length: 6, min_base_score: 95, max_base_score: 100 })).toEqual([
      "config.min_base_score",
    ])
    expect(faults({ guarantees: [{ count: 6, min_score: 20, max_score: 30 }] })).toEqual([
      "config.guarantees",
    ])
    expect(faults({ guarantees: [{ count: -1, min_score: 20, max_score: 30 }] })).toEqual([
      "config.guarantees.0",
    ])
    expect(faults({ weights: [{ ipr: 0, min_score: 20, max_score: 30 }] })).toEqual(["config.weights.0"])
  })
})

describe("the generation of lootboxes", () => {
  let service: TestService
  let admin: TestUser
  const post = (path: string, body: unknown, token = admin.token) =>
    service.call("POST", path, { token, body })
  beforeAll(async () => {
    service = await serve()
    admin = await service.user({ role: "Admin" })
  })

  it("fills lootboxes with ids that meet the configured lengths, scores and guarantees", async () => {
    const rules = config({
      guarantees: [{ count: 2, min_score: 60, max_score: 70 }],
      weights: [{ ipr: 2, min_score: 41, max_score: 59 }],
    })
    const type = await post("/lootbox_type", { name: "Starter", description: "Five ids", config: rules })
    expect(type.body).toMatchObject({ name: "Starter", config: rules })
    const list = await service.call("GET", "/lootbox_type", { token: admin.token })
    expect(list.body).toEqual([type.body])

    const set = await post("/lootbox_type/generate", { loot_box_type_id: type.body.id, num_boxes: 12 })
    expect(set.body.num_requested).toBe(12)
    expect(set.body.loot_boxes).toHaveLength(12)
    const all: Array<string> = set.body.loot_boxes.flatMap((box: { yats: Array<string> }) => box.yats)
    expect(new Set(all).size).toBe(60)
    for (const box of set.body.loot_boxes) {
      expect(box).toMatchObject({ status: "Draft", lootbox_type_id: type.body.id, lootbox_type: type.body })
      expect(box.yats).toHaveLength(5)
      for (const yat of box.yats) {
        const id = parseEmojiId(yat)
        expect(id._tag === "EmojiId" && id.length >= 4 && id.length <= 6).toBe(true)
      }
      expect(box.scores.filter((score: number) => score >= 60 && score <= 70)).toHaveLength(2)
      expect(box.scores.every((score: number) => score >= 10 && score <= 70)).toBe(true)
    }
    const held = await service.sql`select 1 from claim where kind = 'lootbox' and canonical = any(${all})`
    expect(held).toHaveLength(60)
  })

  it("returns fewer lootboxes if there are too few free ids, and 422 if no lootbox can be filled", async () => {
    // There are 447 ids of one emoji, and all have the score 100.
    const rules = config({ size: 50, min_length: 1, max_length: 1, min_base_score: 100, max_base_score: 100 })
    const type = await post("/lootbox_type", { name: "Rare", description: "", config: rules })
    const body = { loot_box_type_id: type.body.id, num_boxes: 9 }
    const set = await post("/lootbox_type/generate", body)
    expect(set.body.num_requested).toBe(9)
    expect(set.body.loot_boxes.length).toBeGreaterThan(4)
    expect(set.body.loot_boxes.length).toBeLessThan(9)
    for (let more = 0; more < 3; more++) {
      const rest = await post("/lootbox_type/generate", body)
      if (rest.status === 422) break
    }
    const none = await post("/lootbox_type/generate", body)
    expect([none.status, none.body.fields.loot_box_type_id[0].code]).toEqual([422, "eligibility"])
  })

  it("requires an administrator, an existing type and a number of 1 to 100 lootboxes", async () => {
    const user = await service.user()
    const unknown = { loot_box_type_id: "00000000-0000-4000-8000-000000000000", num_boxes: 1 }
    expect((await post("/lootbox_type/generate", unknown)).status).toBe(404)
    expect((await post("/lootbox_type/generate", unknown, user.token)).status).toBe(403)
    expect((await post("/lootbox_type/generate", { ...unknown, num_boxes: 101 })).status).toBe(422)
    expect((await post("/lootbox_type/generate", { ...unknown, num_boxes: 0 })).status).toBe(422)
    const bad = await post("/lootbox_type", { name: "x", description: "", config: config({ size: 99 }) })
    expect([bad.status, Object.keys(bad.body.fields)]).toEqual([422, ["config.size"]])
    expect((await service.call("GET", "/lootbox_type", { token: user.token })).status).toBe(403)
  })
})
