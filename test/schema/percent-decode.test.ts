import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { percentDecodeStrict } from "../../schema/percent-decode.ts"

const native = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

describe("percent decoding", () => {
  it("returns the text that was encoded, and returns text without escapes unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(percentDecodeStrict(encodeURIComponent(text))).toBe(text)
        if (!text.includes("%")) expect(percentDecodeStrict(text)).toBe(text)
      }),
    )
  })

  it("decodes or rejects any bytes like decodeURIComponent", () => {
    const byte = fc.oneof(
      fc.nat({ max: 0xff }),
      fc.constantFrom(0xc0, 0xe0, 0xed, 0xf0, 0xf4, 0x80, 0x9f, 0xbf),
    )
    const escaped = byte.map((value) => `%${value.toString(16).padStart(2, "0")}`)
    const piece = fc.oneof(
      { weight: 6, arbitrary: escaped },
      fc.constantFrom("a", "+", "🔥", "%", "%4", "%zz", "%é1"),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        expect(percentDecodeStrict(pieces.join(""))).toBe(native(pieces.join("")))
      }),
      { numRuns: 2000 },
    )
  })

  it("decodes an escaped percent sign only once", () => {
    expect(percentDecodeStrict("%2541")).toBe("%41")
  })

  it("decodes a text that has both escaped and other characters", () => {
    expect(percentDecodeStrict("🔥%F0%9F%94%a5x%20y")).toBe("🔥🔥x y")
  })

  it.each([
    ["a truncated escape", "%F0%9F%94%A"],
    ["a truncated character", "%F0%9F%94"],
    ["a character whose escapes are interrupted by another character", "%F0%9Fx%94%A5"],
    ["an overlong encoding of a slash", "%C0%AF"],
    ["an overlong three-byte form", "%E0%80%AF"],
    ["an overlong four-byte form", "%F0%80%80%AF"],
    ["a surrogate", "%ED%A0%BD"],
    ["a code point above U+10FFFF", "%F4%90%80%80"],
    ["a stray continuation byte", "%94"],
    ["a percent sign without digits", "100%"],
    ["invalid hex digits", "%G0"],
  ])("rejects %s", (_, text) => {
    expect(percentDecodeStrict(text)).toBeUndefined()
  })
})
