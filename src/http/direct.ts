import { isProblem, type Problem } from "../../schema/errors.ts"
import type { RawRequest, RawResponse } from "./endpoint.ts"

/**
 * Answers a request that waits only for a callback, such as a lookup that is read together with others. It calls `done`
 * at most once. It returns a function that stops the request, or undefined if the route's handler must answer: then it
 * has done nothing. A fiber and the layers around a handler cost more than such a request itself.
 */
export type Direct = (
  request: RawRequest,
  done: (outcome: RawResponse | Problem) => void,
) => (() => void) | undefined

interface Answers {
  readonly refuse: (problem: Problem) => RawResponse
  readonly defect: (error: unknown) => RawResponse
  readonly respond: (response: RawResponse) => void
}

/** Begins a request. Returns how to cancel it, as `Endpoint.handle` does; undefined if the handler must answer. */
export const beginDirect = (
  direct: Direct,
  request: RawRequest,
  { defect, refuse, respond }: Answers,
): (() => boolean) | undefined => {
  try {
    const stop = direct(request, (outcome) => respond(isProblem(outcome) ? refuse(outcome) : outcome))
    if (stop === undefined) return undefined
    return () => {
      stop()
      return true
    }
  } catch (error) {
    respond(defect(error))
    return () => true
  }
}
