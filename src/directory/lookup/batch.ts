import { Effect } from "effect"
import { type EmojiId, parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import type { Unavailable } from "../../../schema/errors.ts"
import { isRegistered } from "./answer.ts"
import { maxCharacters, notRegisteredAnswer, refusedAnswer, tooLargeAnswer } from "./cached-batch.ts"
import { Lookups } from "./lookups.ts"
import type { SignedAnswers } from "./signed-answers.ts"
import { lookUpSigned, once } from "./signed-lookup.ts"

interface Found {
  /** The JSON text of the answer. Undefined if the id is not registered. */
  readonly body: string | undefined
  /** The proof that the id is not registered, if proofs are requested. */
  readonly denial?: string
}

const findSigned = <E, R>(id: EmojiId, admit: Effect.Effect<void, E, R>) =>
  lookUpSigned(id, { request: ["lookup"], name: "", select: Effect.succeed }, admit).pipe(
    Effect.map(
      ({ answer, proof }): Found =>
        answer === undefined
          ? { body: undefined, denial: proof }
          : { body: JSON.stringify({ ...answer, proof }) },
    ),
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
 * runs once for each id that is not in the cache, or whose proof must be signed.
 */
export const lookupMany = Effect.fnUntraced(function* <E, R>(
  texts: ReadonlyArray<string>,
  isSigned: boolean,
  admit: Effect.Effect<void, E, R>,
) {
  const lookups = yield* Lookups
  const byCanonical = new Map<string, Found>()
  const answers: Array<string> = []
  let characters = 0
  let charactersRead = 0

  const find = (id: EmojiId): Effect.Effect<Found, E | Unavailable, R | Lookups | SignedAnswers> =>
    isSigned
      ? findSigned(id, once(admit))
      : Effect.map(lookups.view(id, admit), (lookup) => ({
          body: isRegistered(lookup) ? lookup.body : undefined,
        }))

  const answerOf = (text: string, id: ReturnType<typeof parseEmojiId>): string => {
    if (id._tag === "EmojiIdRefused") return refusedAnswer(text, id)
    const found = byCanonical.get(id.canonical)
    if (found === undefined) return tooLargeAnswer(text)
    const { body, denial } = found
    if (body === undefined) return notRegisteredAnswer(text, denial)
    if (characters > 0 && characters + body.length > maxCharacters) return tooLargeAnswer(text)
    characters += body.length
    return `{"emoji_id":${JSON.stringify(text)},${body.slice(1)}`
  }

  for (let from = 0; from < texts.length; from += idsPerStep) {
    const step = texts.slice(from, from + idsPerStep).map((text) => ({ text, id: parseEmojiId(text) }))
    const unread = new Map(
      step.flatMap(({ id }) =>
        id._tag === "EmojiId" && !byCanonical.has(id.canonical) ? [[id.canonical, id] as const] : [],
      ),
    )
    if (charactersRead <= maxCharacters) {
      const found = yield* Effect.forEach([...unread.values()], find, { concurrency: "unbounded" })
      for (const [at, canonical] of [...unread.keys()].entries()) byCanonical.set(canonical, found[at]!)
      charactersRead += found.reduce((sum, { body = "" }) => sum + body.length, 0)
    }
    for (const { id, text } of step) answers.push(answerOf(text, id))
  }
  return answers
})
