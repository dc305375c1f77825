import { Effect } from "effect"
import { parseEmojiId } from "../../schema/emoji-id.ts"
import type { BatchLookupAnswer } from "../../schema/lookup.ts"
import { isRegistered, notRegisteredText } from "./lookup-answer.ts"
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

/** What does not fit any more is to be asked for by itself: one id may have a megabyte, and be named again and again. */
const withinLimit = (texts: ReadonlyArray<string>, answers: ReadonlyArray<string>): ReadonlyArray<string> => {
  let characters = 0
  return answers.map((answer, at) => {
    if (characters > 0 && characters + answer.length > maxCharacters)
      return refusal(texts[at]!, "too_large", "This answer is full. Ask for the id by itself.")
    characters += answer.length
    return answer
  })
}

/**
 * One answer per id in the order asked, each the JSON text of a BatchLookupAnswer. Cold ids share one statement, and one
 * that is named twice is looked up once.
 */
export const lookupMany = Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
  const lookups = yield* Lookups
  const asked = texts.map((text) => ({ text, id: parseEmojiId(text) }))
  const ids = new Map(asked.flatMap(({ id }) => (id._tag === "EmojiId" ? [[id.canonical, id] as const] : [])))
  const found = yield* Effect.forEach([...ids.values()], (id) => lookups.view(id), {
    concurrency: "unbounded",
  })
  const byCanonical = new Map([...ids.keys()].map((canonical, at) => [canonical, found[at]!]))
  const answers = asked.map(({ id, text }) => {
    if (id._tag === "EmojiIdRefused") return refusal(text, id.code, id.message)
    const lookup = byCanonical.get(id.canonical)!
    if (!isRegistered(lookup)) return refusal(text, "not_registered", notRegisteredText)
    return `{"emoji_id":${JSON.stringify(text)},${lookup.body.slice(1)}`
  })
  return withinLimit(texts, answers)
})
