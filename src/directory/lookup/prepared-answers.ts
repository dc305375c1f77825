import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import { percentDecodeStrict } from "../../../schema/percent-decode.ts"
import type { Precomputed, RequestView } from "../../http/endpoint.ts"
import { headerKey } from "../../http/request/header-key.ts"
import { isHeld, notModified, preparedSelection, readAnswer } from "./answer.ts"
import type { LookupCache } from "./cache.ts"
import type { CachedAnswer } from "./cached-answer.ts"
import { resolveByQuery } from "./resolve-records.ts"
import { mayWantProof, paymentForm, selectByQuery, selectByTicker, wholeWithProof } from "./select-records.ts"
import type { SignedAnswers } from "./signed-answers.ts"

const ifNoneMatch = headerKey("if-none-match")

interface Ports {
  readonly cache: LookupCache
  /** Returns the cached answer for the path parameter, if this process may use it now. */
  readonly findCached: (spelling: string) => CachedAnswer | undefined
  /** Called when an answer is sent. */
  readonly use: (answer: CachedAnswer) => void
  readonly now: () => number
  readonly signed: Pick<SignedAnswers["Service"], "prepared">
}

export type Prepare = (view: RequestView) => Precomputed | undefined

/** Makes the functions that answer lookups from the cache. They return undefined if the handler must answer. */
export const makePreparedAnswers = ({ cache, findCached, now, signed, use }: Ports) => {
  const findSelection = (
    answer: CachedAnswer,
    name: string,
    select: (whole: LookupResponse) => unknown,
  ): Precomputed | undefined => {
    const known = cache.selection(answer, name)
    if (known !== undefined || !answer.isRegistered) return known
    const selected = select(readAnswer(answer.toText()))
    if (selected === undefined) return undefined
    const made = preparedSelection(answer.own, selected)
    cache.learnSelection(answer, name, made)
    return made
  }

  const send = (view: RequestView, answer: CachedAnswer, response: Precomputed): Precomputed => {
    use(answer)
    const held = view.getHeader(ifNoneMatch)
    return held !== "" && isHeld(answer.own, held) ? notModified(answer.own) : response
  }

  /** Sends the response, with the proof that is stored under the name of the request if the query asks for one. */
  const sendProven = (
    view: RequestView,
    answer: CachedAnswer,
    response: Precomputed,
    name: string,
    query: string,
    spelling = "",
  ): Precomputed | undefined => {
    if (!mayWantProof(query)) return send(view, answer, response)
    const proven = answer.isRegistered ? signed.prepared(answer, name, response, spelling) : undefined
    if (proven !== undefined) use(answer)
    return proven
  }

  const lookup: Prepare = (view) => {
    const spelling = view.getParameter(0)
    const answer = findCached(spelling)
    if (answer === undefined) return undefined
    const query = view.getQuery()
    if (query === undefined || query === "") return send(view, answer, answer.response)
    if (query === wholeWithProof) return sendProven(view, answer, answer.response, "", query, spelling)
    const name = `?${query}`
    const response = findSelection(answer, name, (whole) => selectByQuery(whole, query))
    return response && sendProven(view, answer, response, name, query)
  }

  const payment: Prepare = (view) => {
    const answer = findCached(view.getParameter(0))
    if (answer === undefined) return undefined
    const query = view.getQuery() ?? ""
    // The name begins with a slash, so it cannot equal the name of a ticker selection: a path segment contains no
    // slash.
    const name = `/payment?${query}`
    if (!answer.isRegistered) return query === "" ? send(view, answer, answer.response) : undefined
    const response = findSelection(answer, name, (whole) => {
      const selected = selectByQuery(whole, query)
      return selected && paymentForm(selected)
    })
    return response && sendProven(view, answer, response, name, query)
  }

  const resolve: Prepare = (view) => {
    const answer = findCached(view.getParameter(0))
    if (answer === undefined || !answer.isRegistered) return undefined
    const query = view.getQuery() ?? ""
    const name = `/resolve?${query}`
    const response = findSelection(answer, name, (whole) => resolveByQuery(whole, query, now()))
    return response && sendProven(view, answer, response, name, query)
  }

  const ticker: Prepare = (view) => {
    const answer = findCached(view.getParameter(0))
    if (answer === undefined) return undefined
    const tag = view.getParameter(1)
    const query = view.getQuery() ?? ""
    const response = findSelection(answer, tag, (whole) => selectByTicker(whole, percentDecodeStrict(tag)))
    return response && sendProven(view, answer, response, `/${tag}?${query}`, query)
  }

  return { lookup, payment, resolve, ticker }
}
