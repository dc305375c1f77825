import { ApiError, isRefusal } from "./api-error.ts"
import { keylessOperations, type TokenResponse } from "./api-types.ts"
import type { Credentials } from "./credentials.ts"
import { NetworkError } from "./network-error.ts"
import type { Answer, CallOptions, Input, OperationName } from "./operation.ts"
import { randomKey } from "./random-key.ts"
import { delayAfterFailure, delayAfterResponse, pause } from "./retry.ts"

export interface RestOptions {
  readonly baseUrl: string
  readonly fetch: typeof fetch
  readonly credentials: Credentials
  /** How often a call is repeated at most. */
  readonly retries: number
  /** How long a request may take. */
  readonly timeoutMs: number
  readonly onCodeRequired?: CallOptions["onCodeRequired"]
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
/** A new password ends all sessions of the user. The response contains the tokens of a new one. */
const newPassword = "PATCH /account"
/** The status of an operation that needs a new two-factor code. */
const codeRequired = 424

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

interface Received {
  readonly response: Response
  readonly text: string
}

/** Runs a request. It fails if it takes too long, or if the application aborts it. */
const inTime = async (
  timeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<Received>,
): Promise<Received> => {
  const end = new AbortController()
  const abort = () => end.abort(signal?.reason)
  const timer = setTimeout(() => end.abort(new Error("The service did not respond in time")), timeoutMs)
  signal?.addEventListener("abort", abort)
  if (signal?.aborted) abort()
  try {
    return await run(end.signal)
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw new NetworkError(error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", abort)
  }
}

/** Returns the response body: undefined if empty, parsed if JSON, otherwise text. */
const contentOf = ({ response, text }: Received): unknown => {
  if (text === "") return undefined
  return response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text
}

/**
 * Creates functions that call operations: `call("GET /emoji_id/{emoji_id}", { params: { emoji_id } })`. `exchange`
 * also returns the headers of the response.
 */
export const makeCall = (options: RestOptions) => {
  const { baseUrl, credentials, fetch, onCodeRequired, replaceTokens, timeoutMs } = options

  const send = (name: string, input: LooseInput, token: string | undefined): Promise<Received> => {
    const [method = "GET", path = "/"] = name.split(" ")
    const url = `${baseUrl}${pathOf(path, input.params ?? {})}${queryOf(input.query ?? {})}`
    const body = input.body === undefined ? undefined : bodyOf(path, input.body)
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(credentials.apiKey === undefined ? {} : { "x-api-key": credentials.apiKey }),
      ...(body === undefined ? {} : { "content-type": body.type }),
      ...(input.idempotencyKey === undefined ? {} : { "idempotency-key": input.idempotencyKey }),
    }
    return inTime(timeoutMs, input.signal, async (signal) => {
      const sent = body === undefined ? {} : { body: body.text }
      const response = await fetch(url, { method, headers, signal, ...sent })
      // A response can be cut off, so its body is part of the attempt.
      return { response, text: await response.text() }
    })
  }

  /** Sends a request, and repeats it while a repetition can help. The repeated requests have the same key. */
  const sendRepeatedly = async (
    name: string,
    input: LooseInput,
    token: string | undefined,
  ): Promise<Received> => {
    const attempts = keylessOperations.has(name) ? 1 : (input.retries ?? options.retries) + 1
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt + 1 >= attempts
      let waitMs: number | undefined
      try {
        const received = await send(name, input, token)
        waitMs = delayAfterResponse(received.response, attempt)
        if (isLast || waitMs === undefined) return received
      } catch (error) {
        if (isLast || !(error instanceof NetworkError)) throw error
        waitMs = delayAfterFailure(attempt)
      }
      await pause(waitMs, input.signal)
    }
  }

  /** Sends a call with the token of the login. If the service rejects the token, it is renewed once. */
  const sendAsUser = async (name: string, input: LooseInput): Promise<Received> => {
    const { logins } = credentials
    if (name === grant) return sendRepeatedly(name, input, undefined)
    let renewalError: unknown
    // After the login has ended, public operations still work. Others fail with the error of the renewal.
    const token = await unlessAborted(credentials.token(), input.signal).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
      renewalError = error
      return undefined
    })
    const received = await sendRepeatedly(name, input, token)
    if (received.response.status !== 401) return received
    if (renewalError !== undefined) throw renewalError
    if (!credentials.canRenew || credentials.logins !== logins) return received
    return sendRepeatedly(name, input, await unlessAborted(credentials.renew(token), input.signal))
  }

  /** Sends a call. If it needs a new two-factor code, the application asks the user, and the call is repeated. */
  const sendWithCode = async (name: string, input: LooseInput): Promise<Received> => {
    const { logins } = credentials
    const ask = input.onCodeRequired ?? onCodeRequired
    for (;;) {
      const received = await sendAsUser(name, input)
      if (received.response.status !== codeRequired || ask === undefined) return received
      await unlessAborted(ask(), input.signal)
      // The call must not be repeated as another user.
      if (credentials.logins !== logins) return received
    }
  }

  const run = async <N extends OperationName>(
    name: N,
    ...[input]: Input<N>
  ): Promise<{ readonly body: Answer<N>; readonly headers: Headers }> => {
    const isKeyed = !name.startsWith("GET ") && !keylessOperations.has(name)
    const given = { ...(isKeyed ? { idempotencyKey: randomKey() } : {}), ...input } as LooseInput
    // Storage of tokens may be slow: the logins are counted after the stored login was loaded.
    await unlessAborted(credentials.ready, given.signal)
    const { logins } = credentials
    const received = await sendWithCode(name, given)
    const { headers, ok, status } = received.response
    const body = contentOf(received)
    if (!ok) throw new ApiError(status, headers, body)
    const next = name === newPassword ? (body as Answer<typeof newPassword>).token_response : undefined
    if (next != null && credentials.logins === logins) replaceTokens?.(next)
    return { body: body as Answer<N>, headers }
  }

  const exchange: typeof run = (name, ...input) =>
    name === newPassword ? credentials.replacing(run(name, ...input)) : run(name, ...input)

  const call = async <N extends OperationName>(name: N, ...input: Input<N>): Promise<Answer<N>> =>
    (await exchange(name, ...input)).body

  return { call, exchange }
}
