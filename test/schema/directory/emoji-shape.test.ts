import { Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { findPattern, findShape, ShapeMatch, shapeMatch } from "../../../schema/directory/emoji-shape.ts"
import { emojiId, readId } from "./emoji-id-arbitrary.ts"

describe("the shape", () => {
  it.each([
    ["🔥🔥", "Repeaters"],
    ["❤️💜🖤", "Repeaters"],
    ["👍🏿👍👍🏻", "Repeaters"],
    ["👁️❤️🍕", "Eye Heart"],
    ["👁💛👁️", "Eye Heart"],
    ["🔥👏🔥", "Bookends"],
    ["🔥👏🚀🌈🦄🔥", "Bookends"],
    ["👽👕👖", "Adoptables"],
    ["🐶🎩👕👖👟", "Adoptables"],
  ])("of %s is `%s`", (text, shape) => {
    expect(findShape(readId(text))).toBe(shape)
  })

  it.each(["🔥", "🔥👏", "👁️❤️", "👁️❤️🍕🍕", "❤️👁️🍕", "👽👕", "👽👕🍕", "👕👖👟", "🔥🔥👏👏"])(
    "of %s is undefined",
    (text) => {
      expect(findShape(readId(text))).toBeUndefined()
    },
  )
})

describe("the repetition pattern of an id", () => {
  it("has one letter per different emoji, and lists the positions of repeated emoji", () => {
    expect(findPattern(readId("🔥👏🔥"))).toEqual({ original: "🔥👏🔥", value: "ABA", match_indexes: [0, 2] })
    expect(findPattern(readId("🚀🔥👏🔥"))).toEqual({
      original: "🚀🔥👏🔥",
      value: "ABCB",
      match_indexes: [1, 3],
    })
    expect(findPattern(readId("💜❤️🔥🔥"))).toEqual({
      original: "❤️❤️🔥🔥",
      value: "AABB",
      match_indexes: [0, 1, 2, 3],
    })
  })

  it("exists only if an emoji occurs more than once", () => {
    fc.assert(
      fc.property(emojiId, (id) => {
        expect(findPattern(id) !== undefined).toBe(new Set(id.emojis).size < id.length)
      }),
    )
  })

  it("has equal letters exactly where the id has equal emoji", () => {
    fc.assert(
      fc.property(emojiId, (id) => {
        const pattern = findPattern(id)
        if (pattern === undefined) return
        const places = [...pattern.value].map((mail) => pattern.value.indexOf(mail))
        expect(places.map((place) => id.emojis[place])).toEqual(id.emojis)
      }),
    )
  })
})

describe("the shape and the pattern of an id", () => {
  it("match the schema `ShapeMatch` for every id, and are an empty object if the id has neither", () => {
    const decode = Schema.decodeUnknownSync(ShapeMatch, { onExcessProperty: "error" })
    fc.assert(
      fc.property(emojiId, (id) => {
        expect(decode(shapeMatch(id))).toEqual(shapeMatch(id))
      }),
    )
    expect(shapeMatch(readId("🔥👏🚀"))).toEqual({})
  })
})
