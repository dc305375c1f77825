import { askForCode } from "../parts/code-dialog.ts"
import { type Exchange, Problem } from "./http.ts"
import { type Answer, exchangeWith, type Input, type OperationName } from "./request.ts"
import { refresh, tokens } from "./session.ts"

/**
 * The Idempotency-Keys of calls that got no response or a server error, by request. If the user repeats such a
 * request, it is sent with the same key, so that the service runs it only once.
 */
const unansweredKeys = new Map<string, string>()
/** The maximum number of retries while the service still processes the first attempt. */
const maxRetries = 5

interface How {
  /** Called before the user is asked for a two-factor code. */
  readonly beforeCode?: () => void
  /** False if the request must have no key. */
  readonly hasKey?: boolean
}

/**
 * Calls the API as the signed-in user. An expired token is refreshed once. If the service requires a new two-factor
 * code, the user is asked for it. In both cases, the call is then repeated.
 */
const exchangeAsUser = async <N extends OperationName>(
  { beforeCode, hasKey = true }: How,
  name: N,
  ...input: Input<N>
): Promise<Exchange> => {
  const signature = JSON.stringify([name, ...input])
  const idempotencyKey =
    hasKey && !name.startsWith("GET ")
      ? (unansweredKeys.get(signature) ?? `${Date.now()}-${Math.random()}`)
      : undefined
  let retriesLeft = unansweredKeys.delete(signature) ? maxRetries : 0
  let isRenewed = false
  for (;;) {
    try {
      return await exchangeWith({ token: tokens.value?.access_token, idempotencyKey }, name, ...input)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (error.status === 401 && tokens.value !== undefined && !isRenewed) {
        isRenewed = true
        await refresh()
      } else if (error.status === 424) {
        beforeCode?.()
        await askForCode()
      } else if (error.status === 409 && error.retryAfterSeconds > 0 && retriesLeft-- > 0)
        await new Promise((resolve) => setTimeout(resolve, error.retryAfterSeconds * 1000))
      else {
        const isOpen = error.status === 0 || error.status >= 500
        if (isOpen && idempotencyKey !== undefined) unansweredKeys.set(signature, idempotencyKey)
        throw error
      }
    }
  }
}

/** Calls an operation, for example `call("GET /orders/{id}", { params: { id } })`. */
export const call = async <N extends OperationName>(name: N, ...input: Input<N>): Promise<Answer<N>> =>
  (await exchangeAsUser({}, name, ...input)).body as Answer<N>

export const callWith = async <N extends OperationName>(
  how: How,
  name: N,
  ...input: Input<N>
): Promise<Answer<N>> => (await exchangeAsUser(how, name, ...input)).body as Answer<N>

const pageSize = 500

/** Reads a list of ids in pages, because one very long response would delay other requests to the service. */
const readAll = async <N extends "GET /emoji_id" | "GET /emoji_id/extended">(name: N): Promise<Answer<N>> => {
  const found: Array<unknown> = []
  let after: string | undefined
  do {
    const query = { limit: pageSize, ...(after === undefined ? {} : { after }) }
    const { body, headers } = await exchangeAsUser({}, name, ...([{ query }] as unknown as Input<N>))
    found.push(...(body as ReadonlyArray<unknown>))
    const [, next] = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "") ?? []
    after =
      next === undefined ? undefined : (new URL(next, location.origin).searchParams.get("after") ?? undefined)
  } while (after !== undefined)
  return found as unknown as Answer<N>
}

/** The ids of the user. */
export const readIds = () => readAll("GET /emoji_id")
export const readIdsWithFacts = () => readAll("GET /emoji_id/extended")
