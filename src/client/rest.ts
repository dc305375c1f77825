import { ApiError, isRefusal } from "./api-error.ts"
import { keylessOperations, type TokenResponse } from "./api-types.ts"
import type { Credentials } from "./credentials.ts"
import type { Answer, CallOptions, Input, OperationName } from "./operation.ts"
import { randomKey } from "./random-key.ts"
import { delayAfterFailure, delayAfterResponse, pause } from "./retry.ts"

export interface RestOptions {
  readonly baseUrl: string
  readonly fetch: typeof fetch
  readonly credentials: Credentials
  /** How often a call is repeated at most. */
  readonly retries: number
  /** Called with the new tokens after a change of the password, which ends all sessions of the user. */
  readonly replaceTokens?: (tokens: TokenResponse) => void
}

interface LooseInput extends CallOptions {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/**
 * Values that cannot be path segments: empty, `.` and `..`, which change the path even if encoded, and lone surrogates.
 */
const invalidSegment = /^\.{0,2}$|\p{Surrogate}/u

const pathOf = (pattern: string, params: Readonly<Record<string, string | number>>): string =>
  pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name] ?? "")
    if (!invalidSegment.test(value)) return encodeURIComponent(value)
    const error = `path: ${name}: ${JSON.stringify(value)} is not a valid path parameter`
    throw new ApiError(400, new Headers(), { error, code: "invalid_request" })
  })

/** This operation takes the credentials of the application in a form, and no token of a user. */
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

/** Stops waiting when the call is aborted. The token renewal continues, because other calls may wait for it. */
const unlessAborted = <A>(waited: Promise<A>, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return waited
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener("abort", abort)
    if (signal.aborted) abort()
    waited.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })
}

/** Reads a response body: undefined if empty, parsed if JSON, otherwise text. */
const read = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (text === "") return undefined
  return response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text
}

/**
 * Creates functions that call operations: `call("GET /emoji_id/{emoji_id}", { params: { emoji_id } })`. `exchange`
 * also returns the headers of the response.
 */
export const makeCall = ({ baseUrl, credentials, fetch, replaceTokens, retries }: RestOptions) => {
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

  /** Sends a request, and repeats it while a repetition can help. The repeated requests have the same key. */
  const sendRepeatedly = async (
    name: string,
    input: LooseInput,
    token: string | undefined,
  ): Promise<Response> => {
    const [method = "GET", path = "/"] = name.split(" ")
    const attempts = keylessOperations.has(name) ? 1 : retries + 1
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt + 1 >= attempts
      let waitMs: number | undefined
      try {
        const response = await send(method, path, input, token)
        waitMs = delayAfterResponse(response, attempt)
        if (isLast || waitMs === undefined) return response
        await response.body?.cancel()
      } catch (error) {
        waitMs = error instanceof ApiError ? undefined : delayAfterFailure(input.signal, attempt)
        if (isLast || waitMs === undefined) throw error
      }
      await pause(waitMs, input.signal)
    }
  }

  const exchange = async <N extends OperationName>(
    name: N,
    ...[input]: Input<N>
  ): Promise<{ readonly body: Answer<N>; readonly headers: Headers }> => {
    const isKeyed = !name.startsWith("GET ") && !keylessOperations.has(name)
    const given = { ...(isKeyed ? { idempotencyKey: randomKey() } : {}), ...input } as LooseInput
    // Storage of tokens may be slow: the logins are counted after the stored login was loaded.
    await unlessAborted(credentials.ready, given.signal)
    const { logins } = credentials
    const isGrant = name === grant
    let renewalError: unknown
    // After the login has ended, public operations still work. Others fail with the error of the renewal.
    const waited = isGrant ? Promise.resolve(undefined) : credentials.token()
    const token = await unlessAborted(waited, given.signal).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
      renewalError = error
      return undefined
    })
    let response = await sendRepeatedly(name, given, token)
    if (response.status === 401 && !isGrant && credentials.canRenew && credentials.logins === logins) {
      await response.body?.cancel()
      if (renewalError !== undefined) throw renewalError
      const renewed = await unlessAborted(credentials.renew(token), given.signal)
      response = await sendRepeatedly(name, given, renewed)
    }
    const body = await read(response)
    if (!response.ok) throw new ApiError(response.status, response.headers, body)
    const next = name === "PATCH /account" ? (body as Answer<"PATCH /account">).token_response : undefined
    if (next != null && credentials.logins === logins) replaceTokens?.(next)
    return { body: body as Answer<N>, headers: response.headers }
  }

  const call = async <N extends OperationName>(name: N, ...input: Input<N>): Promise<Answer<N>> =>
    (await exchange(name, ...input)).body

  return { call, exchange }
}
