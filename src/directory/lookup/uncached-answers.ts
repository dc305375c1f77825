import { parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import { Unavailable } from "../../../schema/errors.ts"
import type { Direct } from "../../http/direct.ts"
import type { RawRequest } from "../../http/endpoint.ts"
import { type LookupAnswer, rawResponse } from "./answer.ts"

interface Ports {
  /** Whether the cache has an answer that may be sent now. */
  readonly isCached: (canonical: string) => boolean
  readonly load: (canonical: string, done: (outcome: LookupAnswer | Unavailable) => void) => void
  /** Called when the answer is sent. */
  readonly countView: (canonical: string, answer: LookupAnswer) => void
}

/** Returns whether the caller may look up an id that is not in the cache, and counts the lookup. */
type MayRead = (request: Pick<RawRequest, "address">) => boolean

/**
 * Answers lookups of all records of an id that is not in the cache. All other lookups are left to the handler, also
 * those that are over the limit of the address, because the caller may have credentials with a limit of its own. The
 * limit then counts such a request twice, which changes nothing: it is used up until it starts again.
 */
export const makeUncachedAnswers =
  ({ countView, isCached, load }: Ports) =>
  (mayRead: MayRead): Direct =>
  (request, done) => {
    if (request.query !== "") return undefined
    const id = parseEmojiId(request.params[0] ?? "")
    if (id._tag !== "EmojiId") return undefined
    const { canonical } = id
    if (isCached(canonical) || !mayRead(request)) return undefined
    let isStopped = false
    load(canonical, (outcome) => {
      if (isStopped) return
      if (outcome instanceof Unavailable) return done(outcome)
      countView(canonical, outcome)
      done(rawResponse(outcome, request.headers["if-none-match"]))
    })
    return () => {
      isStopped = true
    }
  }
