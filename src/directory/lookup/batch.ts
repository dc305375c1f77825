import { Effect } from "effect"
import { parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import type { BatchLookupAnswer } from "../../../schema/directory/lookup.ts"
import { isRegistered, type LookupAnswer, notRegisteredText } from "./answer.ts"
import { Lookups } from "./lookups.ts"

/** Of the answers to one request together. */
const maxCharacters = 4 * 1024 * 1024

const refusal = (emojiId: string, code: string, reason: string): string =>
  JSON.stringify({
    emoji_id: emojiId,
    status: false,
    error: { code, reason },
    stats: [],
  } satisfies BatchLookupAnswer)

const tooLarge = (emojiId: string): string =>
  refusal(emojiId, "too_large", "This answer is full. Ask for the id by itself.")

/**
 * Looked up at once: cold ids among them share one statement. One id may have a megabyte, so what is sure not to fit into
 * the answer is not read either.
 */
const idsAtOnce = 20

/**
 * One answer per id in the order asked, each the JSON text of a BatchLookupAnswer. One that is named twice is looked up
 * once. What does not fit any more is to be asked for by itself.
 */
export const lookupMany = Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
  const lookups = yield* Lookups
  const byCanonical = new Map<string, LookupAnswer>()
  const answers: Array<string> = []
  let characters = 0
  let charactersRead = 0

  const answerOf = (text: string, id: ReturnType<typeof parseEmojiId>): string => {
    if (id._tag === "EmojiIdRefused") return refusal(text, id.code, id.message)
    const lookup = byCanonical.get(id.canonical)
    if (lookup === undefined) return tooLarge(text)
    if (!isRegistered(lookup)) return refusal(text, "not_registered", notRegisteredText)
    if (characters > 0 && characters + lookup.body.length > maxCharacters) return tooLarge(text)
    characters += lookup.body.length
    return `{"emoji_id":${JSON.stringify(text)},${lookup.body.slice(1)}`
  }

  for (let from = 0; from < texts.length; from += idsAtOnce) {
    const asked = texts.slice(from, from + idsAtOnce).map((text) => ({ text, id: parseEmojiId(text) }))
    const unread = new Map(
      asked.flatMap(({ id }) =>
        id._tag === "EmojiId" && !byCanonical.has(id.canonical) ? [[id.canonical, id] as const] : [],
      ),
    )
    if (charactersRead <= maxCharacters) {
      const found = yield* Effect.forEach([...unread.values()], (id) => lookups.view(id), {
        concurrency: "unbounded",
      })
      for (const [at, canonical] of [...unread.keys()].entries()) byCanonical.set(canonical, found[at]!)
      charactersRead += found.reduce((sum, { body }) => sum + body.length, 0)
    }
    for (const { id, text } of asked) answers.push(answerOf(text, id))
  }
  return answers
})
