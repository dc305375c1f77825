import { Effect } from "effect"
import { parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import type { BatchLookupAnswer } from "../../../schema/directory/lookup.ts"
import { isRegistered, type LookupAnswer, notRegisteredText } from "./answer.ts"
import { Lookups } from "./lookups.ts"

/**
 * The maximum number of characters of all answers in one response. The first answer is returned even if it is longer.
 */
const maxCharacters = 4 * 1024 * 1024

const refusal = (emojiId: string, code: string, reason: string): string =>
  JSON.stringify({
    emoji_id: emojiId,
    status: false,
    error: { code, reason },
    stats: [],
  } satisfies BatchLookupAnswer)

const tooLarge = (emojiId: string): string =>
  refusal(
    emojiId,
    "too_large",
    "The response has reached its size limit. Look up this emoji id in a separate request.",
  )

/**
 * The number of ids that are looked up together in one step. Those that are not cached are read with one statement.
 * When the answers so far exceed the size limit of the response, the remaining steps look up no more ids. The number is
 * small because one id can have a megabyte of records, so a large step could read far more than the limit.
 */
const idsPerStep = 20

/**
 * Returns one answer per id, in the order of the request. Each answer is the JSON text of a BatchLookupAnswer. An id
 * that is listed twice is looked up once. An id that does not fit into the response gets the error `too_large`. `admit`
 * runs for each id that is not in the cache.
 */
export const lookupMany = Effect.fnUntraced(function* <E = never, R = never>(
  texts: ReadonlyArray<string>,
  admit?: Effect.Effect<void, E, R>,
) {
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

  for (let from = 0; from < texts.length; from += idsPerStep) {
    const step = texts.slice(from, from + idsPerStep).map((text) => ({ text, id: parseEmojiId(text) }))
    const unread = new Map(
      step.flatMap(({ id }) =>
        id._tag === "EmojiId" && !byCanonical.has(id.canonical) ? [[id.canonical, id] as const] : [],
      ),
    )
    if (charactersRead <= maxCharacters) {
      const found = yield* Effect.forEach([...unread.values()], (id) => lookups.view(id, admit), {
        concurrency: "unbounded",
      })
      for (const [at, canonical] of [...unread.keys()].entries()) byCanonical.set(canonical, found[at]!)
      charactersRead += found.reduce((sum, { body }) => sum + body.length, 0)
    }
    for (const { id, text } of step) answers.push(answerOf(text, id))
  }
  return answers
})
