import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import { suggestionsFor } from "../../src/market/suggestions.ts"
import { randomEmojiId } from "../../src/market/suggestions-random.ts"
import { emojiId, readId } from "../schema/directory/emoji-id-arbitrary.ts"

/**
 * Makes a random generator that always returns the same numbers for one seed, so that a failing run can be repeated.
 */
const seeded = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const canonicals = (text: string): ReadonlyArray<string> =>
  suggestionsFor(readId(text)).map(({ canonical }) => canonical)

describe("suggested alternatives to an id", () => {
  it("are valid, distinct, different from the id, at most 60, and deterministic", () => {
    fc.assert(
      fc.property(emojiId, (id) => {
        const found = suggestionsFor(id).map(({ canonical }) => canonical)
        expect(found.length).toBeGreaterThan(10)
        expect(found.length).toBeLessThanOrEqual(60)
        expect(new Set([...found, id.canonical]).size).toBe(found.length + 1)
        expect(found.map((text) => readId(text).canonical)).toEqual(found)
        expect(suggestionsFor(id).map(({ canonical }) => canonical)).toEqual(found)
      }),
    )
  })

  it("begin with the reversed id, a longer id, and an id with a similar rhythm score", () => {
    const [reverse, longer, swap] = canonicals("🔥👏🚀")
    expect(reverse).toBe("🚀👏🔥")
    expect(longer).toBe("🔥👏🚀🔥")
    expect(Math.abs(rhythmScore(readId(swap!)) - rhythmScore(readId("🔥👏🚀")))).toBeLessThanOrEqual(2)
  })

  it("do not depend on the skin tones of the id", () => {
    expect(canonicals("👍🏿🔥")).toEqual(canonicals("👍🔥"))
  })
})

describe("a random id", () => {
  it("has a length within the requested bounds", () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 0, max: 5 }),
        (seed, minLength, more) => {
          const maxLength = Math.min(6, minLength + more)
          const id = randomEmojiId({ random: seeded(seed), minLength, maxLength })
          expect(id?.length).toBeGreaterThanOrEqual(minLength)
          expect(id?.length).toBeLessThanOrEqual(maxLength)
          expect(readId(id!.canonical).emojis).toEqual(id!.emojis)
        },
      ),
    )
  })

  it("of three to five emoji is found for every requested rhythm score from 22 to 99", () => {
    for (let score = 22; score <= 99; score++) {
      const bounds = { minLength: 3, maxLength: 5, minScore: score, maxScore: score }
      const id = randomEmojiId({ random: seeded(score), ...bounds })
      expect(id === undefined ? undefined : rhythmScore(id)).toBe(score)
    }
  })

  it("is undefined if no id has the requested length and score", () => {
    expect(randomEmojiId({ random: seeded(1), minLength: 6, maxLength: 6, minScore: 99 })).toBeUndefined()
    expect(randomEmojiId({ random: seeded(1), minLength: 1, maxLength: 1, maxScore: 50 })).toBeUndefined()
    expect(randomEmojiId({ random: seeded(1), minLength: 5, maxLength: 3 })).toBeUndefined()
    expect(randomEmojiId({ random: seeded(1), minLength: 7, maxLength: 9 })).toBeUndefined()
  })

  it("is rarely the same as an earlier random id", () => {
    const random = seeded(7)
    const found = Array.from(
      { length: 200 },
      () => randomEmojiId({ random, minLength: 3, maxLength: 5 })?.canonical,
    )
    expect(new Set(found).size).toBeGreaterThan(190)
  })
})
