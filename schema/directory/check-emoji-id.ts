import { Effect } from "effect"
import { InvalidRequest, UnsupportedEmoji } from "../errors.ts"
import { type EmojiId, parseEmojiId } from "./emoji-id.ts"

/**
 * Parses the emoji id of a request, in any accepted spelling. If it contains an unsupported character, the error names
 * the first one. Every parameter and member with an emoji id has the name `emoji_id`.
 */
export const checkEmojiId = (text: string): Effect.Effect<EmojiId, UnsupportedEmoji | InvalidRequest> => {
  const id = parseEmojiId(text)
  if (id._tag === "EmojiId") return Effect.succeed(id)
  const { character, code, message: error } = id
  const fields = { emoji_id: [{ code, message: error }] }
  return Effect.fail(
    code === "length"
      ? new InvalidRequest({ error, fields })
      : new UnsupportedEmoji({ error, fields, details: { character } }),
  )
}
