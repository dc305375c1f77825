import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { emojis } from "../../../schema/directory/emoji.ts"
import { fitPopularity, type RhythmSamples } from "../../../schema/directory/emoji-popularity.ts"
import { foldedSpellings } from "../../../schema/directory/emoji-table.ts"
import { generateEmojiTable } from "../../../schema/directory/emoji-table-generate.ts"

const readData = <A>(name: string): A =>
  JSON.parse(readFileSync(new URL(`../../../schema/directory/data/${name}`, import.meta.url), "utf8")) as A

describe("the emoji table", () => {
  it("equals the output of its generator", () => {
    const committed = readFileSync(
      new URL("../../../schema/directory/emoji-table.ts", import.meta.url),
      "utf8",
    )
    expect(committed).toBe(generateEmojiTable())
  })

  it("contains the 447 published emoji in the published order", () => {
    expect(emojis.map(({ canonical }) => canonical)).toEqual(
      readData<ReadonlyArray<string>>("emoji-set.json"),
    )
    expect(emojis).toHaveLength(447)
  })

  it("has a unique name for every emoji, with only lower-case letters, digits and underscores", () => {
    const names = emojis.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => !/^[a-z0-9_]+$/.test(name))).toEqual([])
  })

  it("has skin tones for 21 emoji: five tones for each emoji except the handshake", () => {
    const toned = emojis.filter((emoji) => emoji.toned.size > 0)
    expect(toned).toHaveLength(21)
    expect(toned.every((emoji) => emoji.toned.size === 5 || emoji.canonical === "🤝")).toBe(true)
    expect(emojis.find(({ canonical }) => canonical === "✌️")?.toned.get(3)).toBe("✌🏽")
    expect(emojis.find(({ canonical }) => canonical === "🤝")?.toned.get(15)).toBe("🫱🏻‍🫲🏿")
  })

  it("has no alternative spelling that is itself an emoji of the table", () => {
    const members = new Set(emojis.map(({ chain }) => chain))
    expect(foldedSpellings.filter(([, spelling]) => members.has(spelling))).toEqual([])
  })

  it("marks emoji such as 🚀 and 👉 as flippable, but not emoji such as ❤️ and 🐼", () => {
    const flippable = new Set(emojis.filter((emoji) => emoji.flippable).map(({ canonical }) => canonical))
    expect(["🚀", "✈️", "🔫", "👉"].every((emoji) => flippable.has(emoji))).toBe(true)
    expect(["❤️", "⚽", "🆒", "🐼"].some((emoji) => flippable.has(emoji))).toBe(false)
  })
})

describe("popularity", () => {
  const samples = readData<RhythmSamples>("rhythm-samples.json")
  const subjects = emojis.map(({ canonical }, place) => ({
    emoji: canonical,
    group: place % 3,
    subgroup: place % 20,
  }))

  it("is between 0 and 1, and higher for an emoji with a higher measured score", () => {
    const fitted = fitPopularity(subjects, samples)
    for (const [emoji, fivefold] of Object.entries(samples.repeat_5)) {
      const own = fitted.get(emoji)!
      expect(own).toBeGreaterThanOrEqual(0)
      expect(own).toBeLessThanOrEqual(1)
      for (const [other, otherFivefold] of Object.entries(samples.repeat_5)) {
        if (otherFivefold > fivefold && !(fitted.get(other)! > own))
          expect.fail(`${other} is not above ${emoji}`)
      }
    }
  })

  it("of an unmeasured emoji is the median of its subgroup, or of its group if no emoji of the subgroup was measured", () => {
    const measured = { repeat_4: {}, repeat_5: { "🐶": 60, "🐱": 70, "🐭": 80, "🚗": 84 } }
    const alike = (emoji: string, subgroup: number) => ({ emoji, group: 1, subgroup })
    const animals = [alike("🐶", 7), alike("🐱", 7), alike("🐭", 7), alike("🐹", 7)]
    const fitted = fitPopularity([...animals, alike("🚗", 8), alike("🪐", 9)], measured)
    expect(fitted.get("🐹")).toBe(fitted.get("🐱"))
    expect(fitted.get("🪐")).toBe(fitted.get("🐭"))
  })
})
