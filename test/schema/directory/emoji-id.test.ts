import { Result, Schema, SchemaIssue } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { emojis } from "../../../schema/directory/emoji.ts"
import {
  type EmojiId,
  EmojiIdFromString,
  type EmojiIdRefused,
  parseEmojiId,
} from "../../../schema/directory/emoji-id.ts"
import { foldedSpellings } from "../../../schema/directory/emoji-table.ts"
import { emojiId, readId } from "./emoji-id-arbitrary.ts"

const refusal = (text: string): EmojiIdRefused => {
  const refused = parseEmojiId(text)
  if (refused._tag === "EmojiId") throw new Error(`${text} is an id`)
  return refused
}

/** Generates a random spelling of one emoji: with a skin tone, as a heart of another colour, with or without U+FE0F. */
const spelling = (index: number): fc.Arbitrary<string> => {
  const emoji = emojis[index]!
  const folds = foldedSpellings.filter(([target]) => target === emoji.canonical).map(([, folded]) => folded)
  return fc
    .tuple(fc.constantFrom(emoji.chain, ...emoji.toned.values(), ...folds), fc.infiniteStream(fc.boolean()))
    .map(([text, selected]) => [...text].map((c) => c + (selected.next().value ? "\uFE0F" : "")).join(""))
}

const spelledId: fc.Arbitrary<readonly [EmojiId, string]> = emojiId.chain((id) =>
  fc.tuple(...id.emojis.map(spelling)).map((parts) => [id, parts.join("")] as const),
)

describe("an emoji id", () => {
  it("has the same canonical form in every spelling", () => {
    fc.assert(
      fc.property(spelledId, ([id, text]) => {
        expect(readId(text).canonical).toBe(id.canonical)
      }),
    )
  })

  it("is parsed as the same id from its canonical, chain and display forms", () => {
    fc.assert(
      fc.property(spelledId, ([, text]) => {
        const id = readId(text)
        expect(readId(id.canonical).canonical).toBe(id.canonical)
        expect(readId(id.chain).canonical).toBe(id.canonical)
        expect(readId(id.display())).toEqual(id)
        expect(id.chain).toBe(id.canonical.replaceAll("\uFE0F", ""))
      }),
    )
  })

  it("has canonical, chain and display forms, skin tones and short names", () => {
    const id = readId("☠🐙👍🏿")
    expect(id.canonical).toBe("☠️🐙👍")
    expect(id.chain).toBe("☠🐙👍")
    expect(id.display()).toBe("☠️🐙👍🏿")
    expect(id.display([0, 4, 1])).toBe("☠️🐙👍🏻")
    expect(id.tones).toEqual([0, 0, 5])
    expect(id.shortNames).toEqual(["poison", "octopus", "thumbsup"])
    expect(id.flippable).toEqual([false, false, true])
    expect(readId("☠️🐙☠️").shortname).toBe("poison.octopus.poison")
  })

  it("has one to six emoji", () => {
    expect(refusal("").code).toBe("length")
    expect(readId("🔥".repeat(6)).length).toBe(6)
    expect(refusal("🔥".repeat(7)).code).toBe("length")
    expect(refusal("❤️".repeat(1_000_000)).code).toBe("length")
  })

  it.each([
    ["🔥A🔥", "A", "U+0041"],
    ["🔥\uFE0F\uFE0F", "\uFE0F", "U+FE0F"],
    ["🔥\uD83D", "\uFFFD", "U+D83D"],
    ["\uDD25", "\uFFFD", "U+DD25"],
    ["x".repeat(10_000_000), "x", "U+0078"],
  ])(
    "is rejected with an error that names the first unsupported character (%#)",
    (text, character, codePoint) => {
      const refused = refusal(text)
      expect(refused.code).toBe("unsupported_emoji")
      expect(refused.character).toBe(character)
      expect(refused.message).toContain(codePoint)
    },
  )

  it("is rejected with an error that names an unsupported character at any position", () => {
    const known = new Set(emojis.flatMap(({ chain }) => [...chain]))
    for (const [, folded] of foldedSpellings) known.add(folded)
    const foreign = fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }).filter((text) => {
      const first = [...text][0]!
      return !known.has(first) && first !== "\uFE0F" && !/\p{Emoji_Modifier}/u.test(first)
    })
    fc.assert(
      fc.property(emojiId, foreign, emojiId, (before, text, after) => {
        const refused = refusal(before.canonical + text + after.canonical)
        expect(refused.character).toBe([...text][0])
      }),
    )
  })

  it("is parsed or rejected without an exception, whatever the text is", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.array(fc.integer({ min: 0, max: 0xffff })),
        (text, units) => {
          for (const any of [text, String.fromCharCode(...units)]) {
            expect(parseEmojiId(any)._tag).toMatch(/^EmojiId/)
          }
        },
      ),
    )
  })
})

describe("EmojiIdFromString", () => {
  const decode = Schema.decodeUnknownResult(EmojiIdFromString)

  it("decodes any spelling and encodes the canonical form", () => {
    const decoded = decode("👍🏿💜")
    expect(Result.isSuccess(decoded) && decoded.success.canonical).toBe("👍❤️")
    expect(Schema.encodeSync(EmojiIdFromString)(readId("👍🏿💜"))).toBe("👍❤️")
  })

  it.each([
    ["🔥A", "unsupported_emoji", '"A" (U+0041) is not a supported emoji.'],
    ["🔥".repeat(7), "length", "An emoji id must have 1 to 6 emoji."],
  ])("fails with the code and message of the parser (%#)", (text, code, message) => {
    const decoded = decode(text)
    if (!Result.isFailure(decoded)) throw new Error("decoded")
    let { issue } = decoded.failure
    while (issue._tag === "Encoding") issue = issue.issue
    expect(issue._tag === "InvalidValue" && issue.annotations?.["code"]).toBe(code)
    expect(SchemaIssue.makeFormatterDefault()(issue)).toBe(message)
  })
})
