import type { TokenResponse } from "../../schema/accounts/session.ts"
import { ApiError, isRefusal } from "./api-error.ts"
import type { Credentials } from "./credentials.ts"
import type { Answer, CallOptions, Input, OperationName } from "./operation.ts"

export interface RestOptions {
  readonly baseUrl: string
  readonly fetch: typeof fetch
  readonly credentials: Credentials
  /** A new password ends every login, the caller's too, and brings the next one. */
  readonly goOnWith?: (tokens: TokenResponse) => void
}

interface LooseInput extends CallOptions {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** However they are encoded, dots make another path of it, which may well answer; half a character is not encoded at all. */
const unsendable = /^\.{0,2}$|\p{Surrogate}/u

const pathOf = (pattern: string, params: Readonly<Record<string, string>>): string =>
  pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = params[name] ?? ""
    if (!unsendable.test(value)) return encodeURIComponent(value)
    const error = `path: ${name}: ${JSON.stringify(value)} cannot be part of a path`
    throw new ApiError(400, new Headers(), { error, code: "invalid_request" })
  })

/** An application proves who it is in what it sends, as a form: nobody's login has a part in that. */
const grant: OperationName = "POST /token"

const formOf = (values: object): string => {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value != null) form.set(name, String(value))
  return form.toString()
}
const queryOf = (query: object): string => {
  const text = formOf(query)
  return text === "" ? "" : `?${text}`
}
const bodyOf = (path: string, body: unknown): { readonly type: string; readonly text: string } =>
  grant.endsWith(` ${path}`)
    ? { type: "application/x-www-form-urlencoded", text: formOf(body as object) }
    : { type: "application/json", text: JSON.stringify(body) }

/** Who gives up on a call does not wait for its token either: others may, so that is not given up. */
const unlessAborted = <A>(waited: Promise<A>, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return waited
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason)
    signal.addEventListener("abort", giveUp)
    if (signal.aborted) giveUp()
    waited.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp))
  })
}

/** Empty answers are undefined, JSON is parsed, the rest is text. */
const read = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (text === "") return undefined
  return response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text
}

/** Calls an operation by its row in the table: `call("GET /emoji_id/:emoji_id", { params: { emoji_id } })`. */
export const makeCall = ({ baseUrl, credentials, fetch, goOnWith }: RestOptions) => {
  const send = async (method: string, path: string, input: LooseInput, token: string | undefined) => {
    const body = input.body === undefined ? undefined : bodyOf(path, input.body)
    return fetch(`${baseUrl}${pathOf(path, input.params ?? {})}${queryOf(input.query ?? {})}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(credentials.apiKey === undefined ? {} : { "x-api-key": credentials.apiKey }),
        ...(body === undefined ? {} : { "content-type": body.type }),
        ...(input.idempotencyKey === undefined ? {} : { "idempotency-key": input.idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: body.text }),
      ...(input.signal === undefined ? {} : { signal: input.signal }),
    })
  }

  return async <N extends OperationName>(name: N, ...[input]: Input<N>): Promise<Answer<N>> => {
    const [method = "GET", path = "/"] = name.split(" ")
    const given = (input ?? {}) as LooseInput
    const { logins } = credentials
    const isGrant = name === grant
    let over: unknown
    // What is open to everybody is so also when the login is over; the rest is refused, and this is why.
    const asked = isGrant ? Promise.resolve(undefined) : credentials.token()
    const token = await unlessAborted(asked, given.signal).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
      over = error
      return undefined
    })
    let response = await send(method, path, given, token)
    if (response.status === 401 && !isGrant && credentials.canRenew && credentials.logins === logins) {
      await response.body?.cancel()
      if (over !== undefined) throw over
      const renewed = await unlessAborted(credentials.renew(token), given.signal)
      response = await send(method, path, given, renewed)
    }
    const body = await read(response)
    if (!response.ok) throw new ApiError(response.status, response.headers, body)
    const next = name === "PATCH /account" ? (body as Answer<"PATCH /account">).token_response : undefined
    if (next !== undefined && credentials.logins === logins) goOnWith?.(next)
    return body as Answer<N>
  }
}
