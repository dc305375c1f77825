import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { emojis } from "../../../schema/directory/emoji.ts"
import {
  displayFormat,
  encodeDisplayModifiers,
  parseDisplayModifiers,
} from "../../../schema/directory/emoji-display.ts"
import { emojiId, readId } from "./emoji-id-arbitrary.ts"

const tonesOf = (indexes: ReadonlyArray<number>) =>
  fc.tuple(...indexes.map((index) => fc.constantFrom(0, ...emojis[index]!.toned.keys())))

describe("display modifiers", () => {
  it("return the tones they were written with", () => {
    const toned = emojiId.chain((id) => tonesOf(id.emojis).map((tones) => [id, tones] as const))
    fc.assert(
      fc.property(toned, ([id, tones]) => {
        const data = encodeDisplayModifiers(id, tones)
        expect(parseDisplayModifiers(id, data)).toEqual(tones)
        expect(displayFormat(id, data)).toBe(data)
      }),
    )
  })

  it("of another id, or invalid ones, are not applied", () => {
    const id = readId("👍🔥")
    expect(parseDisplayModifiers(id, "👎🏿🔥")).toBeUndefined()
    expect(displayFormat(id, "👎🏿🔥")).toBe("👍🔥")
    expect(displayFormat(id, "nonsense")).toBe("👍🔥")
    expect(displayFormat(id, undefined)).toBe("👍🔥")
  })

  it("keep skin tones but not heart colours", () => {
    expect(displayFormat(readId("👍❤️"), "👍🏿💜")).toBe("👍🏿❤️")
  })
})
