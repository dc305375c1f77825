import fc from "fast-check"
import { emojis } from "../../../schema/directory/emoji.ts"
import { EmojiId, parseEmojiId } from "../../../schema/directory/emoji-id.ts"

const emojiIndex = fc.nat({ max: emojis.length - 1 })

/** Generates random ids with at most four different emoji, so that shapes occur often. */
export const emojiId = fc
  .array(emojiIndex, { minLength: 1, maxLength: 4 })
  .chain((palette) => fc.array(fc.constantFrom(...palette), { minLength: 1, maxLength: 6 }))
  .map((indexes) => new EmojiId(indexes))

export const readId = (text: string): EmojiId => {
  const id = parseEmojiId(text)
  if (id._tag === "EmojiIdRefused") throw new Error(id.message)
  return id
}
