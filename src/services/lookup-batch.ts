import { Effect } from "effect"
import { parseEmojiId } from "../../schema/emoji-id.ts"
import type { BatchLookupAnswer } from "../../schema/lookup.ts"
import { isRegistered, notRegisteredText } from "./lookup-answer.ts"
import { Lookups } from "./lookups.ts"

const refusal = (emojiId: string, code: string, reason: string): string =>
  JSON.stringify({
    emoji_id: emojiId,
    status: false,
    error: { code, reason },
    stats: [],
  } satisfies BatchLookupAnswer)

const lookupOne = Effect.fnUntraced(function* (text: string) {
  const id = parseEmojiId(text)
  if (id._tag === "EmojiIdRefused") return refusal(text, id.code, id.message)
  const lookup = yield* (yield* Lookups).view(id)
  if (!isRegistered(lookup)) return refusal(text, "not_registered", notRegisteredText)
  return `{"emoji_id":${JSON.stringify(text)},${lookup.body.slice(1)}`
})

/** One answer per id in the order asked, each the JSON text of a BatchLookupAnswer. Cold ids share one statement. */
export const lookupMany = (texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, lookupOne, { concurrency: "unbounded" })
