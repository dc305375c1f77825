import { Effect } from "effect"
import { checkEmojiId } from "../../../schema/directory/check-emoji-id.ts"
import type { EmojiId } from "../../../schema/directory/emoji-id.ts"
import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import type { ProvenRequest } from "../../../schema/proofs/claims.ts"
import type { RawRequest } from "../../http/endpoint.ts"
import { Reply } from "../../http/response/reply.ts"
import { isRegistered, lookupHeaders, missingHeaders, notRegisteredText, readAnswer } from "./answer.ts"
import { admitCold } from "./cold-limit.ts"
import { Lookups } from "./lookups.ts"
import { httpSubject, retryChanged, SignedAnswers } from "./signed-answers.ts"

/** Runs the effect only for the first of its calls. So a lookup that needs a query and a signature is counted once. */
export const once = <E, R>(admit: Effect.Effect<void, E, R>): Effect.Effect<void, E, R> => {
  let isAdmitted = false
  return Effect.suspend((): Effect.Effect<void, E, R> => {
    if (isAdmitted) return Effect.void
    isAdmitted = true
    return admit
  })
}

/** Appended to the descriptions of the lookup routes. */
export const aboutProof =
  " With `proof=true`, the answer has a signed `proof` that a wallet can check offline, and so has the 404 of an id that is not registered. [Verify answers](/docs/verification) has the checks."

interface Form<A, E, R> {
  readonly request: ProvenRequest
  /** The name of the request in the cache: the rest of the path, and the query string. */
  readonly name: string
  readonly select: (whole: LookupResponse) => Effect.Effect<A, E, R>
}

/** The responses of a signed lookup. */
interface Replies<A, E, E2> {
  readonly found: (answer: A, proof: string) => Effect.Effect<Reply<never>, E>
  /** The response for an id that is not registered. */
  readonly missing: (proof: string) => Effect.Effect<Reply<never>, E2>
}

export const replyFound = (answer: object, proof: string) =>
  Effect.succeed(Reply.raw(JSON.stringify({ ...answer, proof }), lookupHeaders))

const usualReplies: Replies<object, never, never> = {
  found: replyFound,
  missing: (proof) =>
    Effect.succeed(Reply.raw(JSON.stringify({ error: notRegisteredText, proof }), missingHeaders, 404)),
}

/** Looks an id up. Returns what `select` returns for its answer, with a proof; or only the proof that it is not registered. */
export const lookUpSigned = <A extends object, E, R, E2, R2>(
  id: EmojiId,
  { name, request, select }: Form<A, E, R>,
  admit: Effect.Effect<void, E2, R2>,
) =>
  retryChanged(
    Effect.gen(function* () {
      const signed = yield* SignedAnswers
      const lookup = yield* (yield* Lookups).view(id, admit)
      const { canonical } = id
      if (!isRegistered(lookup)) return { answer: undefined, proof: yield* signed.deny(canonical, admit) }
      const whole = readAnswer(lookup)
      const answer = yield* select(whole)
      return {
        answer,
        proof: yield* signed.prove(httpSubject(canonical, lookup, whole, { request, name, answer }), admit),
      }
    }),
  )

/** Makes the response of a signed lookup. It has no ETag, because a proof expires without a new version of the id. */
export const replySigned = Effect.fnUntraced(function* <A extends object, E, R, E2 = never, E3 = never>(
  emojiId: string,
  request: Pick<RawRequest, "address" | "headers">,
  form: Form<A, E, R>,
  replies: Replies<A, E2, E3> = usualReplies,
) {
  const id = yield* checkEmojiId(emojiId)
  const { answer, proof } = yield* lookUpSigned(id, form, once(admitCold(request)))
  return yield* answer === undefined ? replies.missing(proof) : replies.found(answer, proof)
})
