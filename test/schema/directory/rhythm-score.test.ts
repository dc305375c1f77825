import { readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { emojis } from "../../../schema/directory/emoji.ts"
import { EmojiId } from "../../../schema/directory/emoji-id.ts"
import { findShape } from "../../../schema/directory/emoji-shape.ts"
import { rhythmScore, scoreOf } from "../../../schema/directory/rhythm-score.ts"
import { emojiId, readId } from "./emoji-id-arbitrary.ts"

interface Samples {
  readonly repeat_5: Readonly<Record<string, number>>
  readonly repeat_4: Readonly<Record<string, number>>
  readonly other: ReadonlyArray<readonly [id: string, score: number]>
}
const samples = JSON.parse(
  readFileSync(new URL("../../../schema/directory/data/rhythm-samples.json", import.meta.url), "utf8"),
) as Samples

const measured: ReadonlyArray<readonly [id: string, score: number]> = [
  ...Object.entries(samples.repeat_5).map(([emoji, score]) => [emoji.repeat(5), score] as const),
  ...Object.entries(samples.repeat_4).map(([emoji, score]) => [emoji.repeat(4), score] as const),
  ...samples.other,
]

const scoreOfText = (text: string): number => rhythmScore(readId(text))

describe("the rhythm score", () => {
  it("differs from every measured score by at most 1", () => {
    expect(measured).toHaveLength(447 + 224 + 2)
    const off = measured.filter(([text, score]) => Math.abs(scoreOfText(text) - score) > 1)
    expect(off).toEqual([])
  })

  it("equals the measured score for more than 98 % of the samples", () => {
    const exact = measured.filter(([text, score]) => scoreOfText(text) === score)
    expect(exact.length / measured.length).toBeGreaterThan(0.98)
  })

  it("is an integer from 1 to 100 for every id", () => {
    fc.assert(
      fc.property(emojiId, (id) => {
        const score = rhythmScore(id)
        expect(Number.isInteger(score) && score >= 1 && score <= 100).toBe(true)
      }),
    )
  })

  it("is 100 for one emoji, slightly lower for two, and 1 for the six least popular emoji", () => {
    const popularity = (index: number): number => emojis[index]!.popularity
    const least = emojis.map(({ index }) => index).toSorted((a, b) => popularity(a) - popularity(b))
    for (const { index } of emojis) expect(rhythmScore(new EmojiId([index]))).toBe(100)
    expect(scoreOfText("🔥🔥")).toBe(99)
    expect(rhythmScore(new EmojiId(least.slice(0, 2)))).toBeGreaterThanOrEqual(93)
    expect(rhythmScore(new EmojiId(least.slice(0, 6)))).toBe(1)
  })

  it("is never lower for a shorter id with the same shape and popularity", () => {
    const shape = fc.constantFrom("Repeaters" as const, "Bookends" as const, "Adoptables" as const, undefined)
    fc.assert(
      fc.property(
        shape,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 2, max: 6 }),
        (name, p, length) => {
          expect(scoreOf(length - 1, name, p)).toBeGreaterThanOrEqual(scoreOf(length, name, p))
        },
      ),
    )
  })

  it("never decreases when the least popular emoji is removed", () => {
    fc.assert(
      fc.property(
        emojiId.filter((id) => id.length > 1),
        (id) => {
          const popularities = id.emojis.map((index) => emojis[index]!.popularity)
          const least = popularities.indexOf(Math.min(...popularities))
          const shorter = new EmojiId(id.emojis.filter((_, place) => place !== least))
          expect(rhythmScore(shorter)).toBeGreaterThanOrEqual(rhythmScore(id))
        },
      ),
      { numRuns: 1000 },
    )
  })

  it("never decreases when an emoji is replaced by a more popular emoji and the shape is unchanged", () => {
    fc.assert(
      fc.property(emojiId, fc.nat(), fc.nat({ max: emojis.length - 1 }), (id, place, index) => {
        const replaced = id.emojis[place % id.length]!
        const changed = new EmojiId(id.emojis.map((own) => (own === replaced ? index : own)))
        fc.pre(findShape(changed) === findShape(id))
        const rose = emojis[index]!.popularity >= emojis[replaced]!.popularity
        const [less, more] = rose ? [id, changed] : [changed, id]
        expect(rhythmScore(more)).toBeGreaterThanOrEqual(rhythmScore(less))
      }),
      { numRuns: 1000 },
    )
  })

  it("is higher for an id with a shape, and the shape `Repeaters` gives the highest score", () => {
    for (const length of [3, 4, 5, 6]) {
      const plain = scoreOf(length, undefined, 0.5)
      const bookends = scoreOf(length, "Bookends", 0.5)
      const adoptables = scoreOf(length, "Adoptables", 0.5)
      const repeaters = scoreOf(length, "Repeaters", 0.5)
      expect([plain, bookends, adoptables, repeaters]).toEqual(
        [plain, bookends, adoptables, repeaters].toSorted((a, b) => a - b),
      )
      expect(bookends).toBeGreaterThan(plain)
    }
  })
})
