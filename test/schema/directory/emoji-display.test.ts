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
  it("are parsed back to the skin tones that they were made from", () => {
    const toned = emojiId.chain((id) => tonesOf(id.emojis).map((tones) => [id, tones] as const))
    fc.assert(
      fc.property(toned, ([id, tones]) => {
        const data = encodeDisplayModifiers(id, tones)
        expect(parseDisplayModifiers(id, data)).toEqual(tones)
        expect(displayFormat(id, data)).toBe(data)
      }),
    )
  })

  it("are ignored if they belong to another id or are invalid", () => {
    const id = readId("👍🔥")
    expect(parseDisplayModifiers(id, "👎🏿🔥")).toBeUndefined()
    expect(displayFormat(id, "👎🏿🔥")).toBe("👍🔥")
    expect(displayFormat(id, "nonsense")).toBe("👍🔥")
    expect(displayFormat(id, undefined)).toBe("👍🔥")
  })

  it("change the skin tones of an id, but not the colour of its hearts", () => {
    expect(displayFormat(readId("👍❤️"), "👍🏿💜")).toBe("👍🏿❤️")
  })
})
