import { Schema } from "effect"
import { type EmojiId, parseEmojiId } from "./emoji-id.ts"

export const ShapeName = Schema.Literals(["Repeaters", "Eye Heart", "Bookends", "Adoptables"])
export type ShapeName = typeof ShapeName.Type

export const ShapePattern = Schema.Struct({
  /** The id in canonical form. */
  original: Schema.String,
  /** One letter per emoji, with equal letters for equal emoji, for example "ABA". */
  value: Schema.String,
  /** The positions of all emoji that occur more than once. The first position is 0. */
  match_indexes: Schema.Array(Schema.Int),
})
export type ShapePattern = typeof ShapePattern.Type

export const ShapeMatch = Schema.Struct({
  shape: Schema.optionalKey(ShapeName),
  pattern: Schema.optionalKey(ShapePattern),
}).annotate({ identifier: "ShapeMatch" })
export type ShapeMatch = typeof ShapeMatch.Type

const members = (...ids: ReadonlyArray<string>): ReadonlySet<number> =>
  new Set(
    ids.flatMap((text) => {
      const id = parseEmojiId(text)
      if (id._tag === "EmojiIdRefused") throw new Error(id.message)
      return id.emojis
    }),
  )

/** Emoji that can be the first emoji of an Adoptables id: faces and figures. */
const heads = members(
  ...["😂😍😘😜😎🤓", "🤔🤐😶🙃😇😈", "😱😢😷🤕🤢🤧", "😵🤯🥶🤑🤠🤡", "👽🤖👻💩👾🎃", "👶⛄🗿☠️🙈🐵"],
  ...["🐶🐱🐭🐰🦊🐻", "🐼🐨🐯🦁🐮🐷", "🐸🐔🐺🐗🐴🦄", "🐧🦉🐣🦍🐙"],
)

/** Emoji that can follow in an Adoptables id: things that can be worn or carried. */
const garments = members("👕👖👗👘👙🎽", "🥋👒🎩🎓👑🎀", "👞👟👠👢⛸️🥊", "🎒👛💍📿⌚🎧", "💄💼")

const [eye, heart] = [...members("👁️❤️")]

const isRepeaters = (emojis: ReadonlyArray<number>): boolean =>
  emojis.length > 1 && emojis.every((emoji) => emoji === emojis[0])

const isEyeHeart = (emojis: ReadonlyArray<number>): boolean =>
  emojis.length === 3 && emojis[0] === eye && emojis[1] === heart

const isBookends = (emojis: ReadonlyArray<number>): boolean =>
  emojis.length > 2 && emojis[0] === emojis.at(-1)

const isAdoptables = (emojis: ReadonlyArray<number>): boolean =>
  emojis.length > 2 &&
  heads.has(emojis[0]!) &&
  emojis.every((emoji, place) => place === 0 || garments.has(emoji))

/**
 * Returns the shape of an id, or undefined. An id has at most one shape. If several shapes match, the first match in
 * the order of these checks counts.
 */
export const findShape = ({ emojis }: EmojiId): ShapeName | undefined => {
  if (isRepeaters(emojis)) return "Repeaters"
  if (isEyeHeart(emojis)) return "Eye Heart"
  if (isBookends(emojis)) return "Bookends"
  if (isAdoptables(emojis)) return "Adoptables"
  return undefined
}

/**
 * Returns the pattern of an id in which at least one emoji occurs more than once. Undefined if all emoji are different.
 */
export const findPattern = ({ canonical, emojis }: EmojiId): ShapePattern | undefined => {
  const distinct = [...new Set(emojis)]
  if (distinct.length === emojis.length) return undefined
  const occursAgain = (emoji: number): boolean => emojis.indexOf(emoji) !== emojis.lastIndexOf(emoji)
  return {
    original: canonical,
    value: emojis.map((emoji) => String.fromCharCode(65 + distinct.indexOf(emoji))).join(""),
    match_indexes: emojis.flatMap((emoji, place) => (occursAgain(emoji) ? [place] : [])),
  }
}

export const shapeMatch = (id: EmojiId): ShapeMatch => {
  const shape = findShape(id)
  const pattern = findPattern(id)
  return { ...(shape !== undefined && { shape }), ...(pattern !== undefined && { pattern }) }
}
