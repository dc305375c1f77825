import { Effect } from "effect"
import { InvalidRequest, UnsupportedEmoji } from "../errors.ts"
import { type EmojiId, parseEmojiId } from "./emoji-id.ts"

/**
 * Parses the emoji id of a request, in any accepted spelling. If it contains an unsupported character, the error names
 * the first one.
 */
export const checkEmojiId = (text: string): Effect.Effect<EmojiId, UnsupportedEmoji | InvalidRequest> => {
  const id = parseEmojiId(text)
  if (id._tag === "EmojiId") return Effect.succeed(id)
  return Effect.fail(
    id.code === "length"
      ? new InvalidRequest({ error: id.message })
      : new UnsupportedEmoji({ error: id.message, details: { character: id.character } }),
  )
}
