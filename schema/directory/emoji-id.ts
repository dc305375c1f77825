import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { emojis, type Tone } from "./emoji.ts"
import { type SpellingNode, spellings } from "./emoji-spelling.ts"

export const maxEmojiPerId = 6
const variationSelector16 = 0xfe0f

/** One to six emoji of the set. Two ids are the same id when their `canonical` is the same. */
export class EmojiId {
  readonly _tag = "EmojiId"
  /** Skin tones stripped, each emoji fully qualified: the key of everything. */
  readonly canonical: string
  /** Positions in the set. */
  readonly emojis: ReadonlyArray<number>
  /** The tones it was spelled with, one per emoji. */
  readonly tones: ReadonlyArray<Tone>

  constructor(indexes: ReadonlyArray<number>, tones: ReadonlyArray<Tone> = indexes.map(() => 0)) {
    let canonical = ""
    for (const index of indexes) canonical += emojis[index]!.canonical
    this.canonical = canonical
    this.emojis = indexes
    this.tones = tones
  }

  get length(): number {
    return this.emojis.length
  }
  /** Canonical without U+FE0F. */
  get chain(): string {
    return this.emojis.map((index) => emojis[index]!.chain).join("")
  }
  get shortNames(): ReadonlyArray<string> {
    return this.emojis.map((index) => emojis[index]!.name)
  }
  get shortname(): string {
    return this.shortNames.join(".")
  }
  get flippable(): ReadonlyArray<boolean> {
    return this.emojis.map((index) => emojis[index]!.flippable)
  }
  /** The id in the given skin tones; a tone its emoji does not take is left out. */
  display(tones: ReadonlyArray<Tone> = this.tones): string {
    return this.emojis
      .map((index, place) => emojis[index]!.toned.get(tones[place] ?? 0) ?? emojis[index]!.canonical)
      .join("")
  }
}

/** Why a text is no emoji id. */
export class EmojiIdRefused {
  readonly _tag = "EmojiIdRefused"
  readonly code: "unsupported_emoji" | "length"
  readonly message: string
  /** The first character outside the set. */
  readonly character: string | undefined

  constructor(code: EmojiIdRefused["code"], message: string, character?: string) {
    this.code = code
    this.message = message
    this.character = character
  }
}

const wrongLength = new EmojiIdRefused("length", `An emoji id has 1 to ${maxEmojiPerId} emoji.`)

const unsupported = (codePoint: number): EmojiIdRefused => {
  const isLoneSurrogate = codePoint >= 0xd800 && codePoint <= 0xdfff
  // Half a surrogate pair cannot be written as UTF-8, so it is named by its number only.
  const character = isLoneSurrogate ? "\uFFFD" : String.fromCodePoint(codePoint)
  const name = `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`
  return new EmojiIdRefused(
    "unsupported_emoji",
    `"${character}" (${name}) is not a supported emoji.`,
    character,
  )
}

/**
 * Reads any accepted spelling, taking the longest emoji at each place. Runs once per lookup: no regex, no segmenter. It
 * stops at the first character outside the set or the seventh emoji, so a huge text costs no more than a full id.
 */
export const parseEmojiId = (text: string): EmojiId | EmojiIdRefused => {
  const units = text.length
  if (units === 0) return wrongLength
  const indexes: Array<number> = []
  const tones: Array<Tone> = []
  let start = 0
  while (start < units) {
    const first = text.codePointAt(start)!
    let node: SpellingNode | undefined = spellings.get(first)
    let at = start + (first > 0xffff ? 2 : 1)
    let matched: SpellingNode | undefined
    let end = start
    while (node !== undefined) {
      if (at < units && text.charCodeAt(at) === variationSelector16) at++
      if (node.index !== -1) {
        matched = node
        end = at
      }
      if (node.next === undefined || at >= units) break
      const codePoint: number = text.codePointAt(at)!
      node = node.next.get(codePoint)
      at += codePoint > 0xffff ? 2 : 1
    }
    if (matched === undefined) return unsupported(first)
    if (indexes.length === maxEmojiPerId) return wrongLength
    indexes.push(matched.index)
    tones.push(matched.tone)
    start = end
  }
  return new EmojiId(indexes, tones)
}

/** An emoji id in a path, query or body; encodes to its canonical form. */
export const EmojiIdFromString = Schema.String.annotate({ format: "emoji-id" }).pipe(
  Schema.decodeTo(
    Schema.instanceOf(EmojiId),
    SchemaTransformation.transformEffect({
      decode: (text, options) => {
        const id = parseEmojiId(text)
        if (id._tag === "EmojiId") return Effect.succeed(id)
        return Effect.fail(
          new SchemaIssue.InvalidValue({ message: id.message, code: id.code }, text, options),
        )
      },
      encode: (id) => Effect.succeed(id.canonical),
    }),
  ),
)
