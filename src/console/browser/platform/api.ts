import { ApiError } from "../../../client/api-error.ts"
import type { Item } from "../../../client/list-items.ts"
import { NetworkError } from "../../../client/network-error.ts"
import { randomKey } from "../../../client/random-key.ts"
import { askForCode } from "../parts/code-dialog.ts"
import type { Answer, Input, OperationName } from "./request.ts"
import { client } from "./session.ts"

/**
 * The Idempotency-Keys of calls that got no response or a server error, by request. If the user repeats such a
 * request, it is sent with the same key, so that the service runs it only once.
 */
const unansweredKeys = new Map<string, string>()
/** How often the repeated request is sent again while the service still processes the first one. */
const maxRetries = 5

const isUnanswered = (error: unknown): boolean =>
  error instanceof NetworkError || (error instanceof ApiError && error.status >= 500)

interface How {
  /** Called before the user is asked for a two-factor code. */
  readonly beforeCode?: () => void
}

export const callWith = async <N extends OperationName>(
  { beforeCode }: How,
  name: N,
  ...[input]: Input<N>
): Promise<Answer<N>> => {
  const signature = JSON.stringify([name, input])
  const openKey = unansweredKeys.get(signature)
  unansweredKeys.delete(signature)
  const idempotencyKey = openKey ?? randomKey()
  const onCodeRequired = () => {
    beforeCode?.()
    return askForCode()
  }
  const options = {
    onCodeRequired,
    ...(name.startsWith("GET ") ? {} : { idempotencyKey }),
    ...(openKey === undefined ? {} : { retries: maxRetries }),
  }
  try {
    return await client.call(name, ...([{ ...input, ...options }] as unknown as Input<N>))
  } catch (error) {
    if (isUnanswered(error)) unansweredKeys.set(signature, idempotencyKey)
    throw error
  }
}

/**
 * Calls an operation as the signed-in user, for example `call("GET /orders/{id}", { params: { id } })`. If the service
 * requires a new two-factor code, the user is asked for it, and the call is repeated.
 */
export const call = <N extends OperationName>(name: N, ...input: Input<N>): Promise<Answer<N>> =>
  callWith({}, name, ...input)

/** Reads a list in pages, because one very long response would delay other requests to the service. */
const readAll = async <N extends "GET /account/applications" | "GET /emoji_id" | "GET /emoji_id/extended">(
  name: N,
  limit: number,
): Promise<ReadonlyArray<Item<N>>> => {
  const found: Array<Item<N>> = []
  for await (const item of client.items(name, ...([{ query: { limit } }] as unknown as Input<N>)))
    found.push(item)
  return found
}

/** The ids of the user. */
export const readIds = () => readAll("GET /emoji_id", 500)
export const readIdsWithFacts = () => readAll("GET /emoji_id/extended", 500)
/** The applications that the user gave access to. */
export const readGrantedApplications = () => readAll("GET /account/applications", 200)
