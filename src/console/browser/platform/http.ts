/**
 * How far the server's clock is ahead of the local clock, in milliseconds. Deadlines are compared with the server's
 * clock.
 */
let aheadMs = 0
export const serverNow = (): number => Date.now() + aheadMs

/**
 * Corrects `aheadMs` by the Date header of a response. The header has a resolution of one second, so smaller
 * differences are ignored.
 */
const noteServerTime = (date: string | null): void => {
  const difference = date === null ? Number.NaN : Date.parse(date) + 500 - Date.now()
  if (Math.abs(difference - aheadMs) > 1000) aheadMs = difference
}

type Fields = Readonly<Record<string, ReadonlyArray<{ readonly code: string; readonly message: string }>>>

/** An error response of the service. The status is 0 if there was no response. */
export class Problem extends Error {
  readonly status: number
  readonly fields: Fields
  readonly retryAfterSeconds: number

  constructor(
    status: number,
    body: { readonly error?: unknown; readonly fields?: unknown },
    retryAfter?: string | null,
  ) {
    super(typeof body.error === "string" ? body.error : `The service returned status ${status}.`)
    this.status = status
    this.fields = (body.fields ?? {}) as Fields
    this.retryAfterSeconds = Number(retryAfter ?? 0)
  }
}

/**
 * The first part of messages such as `insert.0: A web link is …`. It is removed, because a form has only one such
 * field.
 */
const placeInList = /^\w+\.\d+: /

export const explain = (error: unknown): string => {
  if (!(error instanceof Problem)) return "An error occurred on this page. Reload the page."
  const messages = Object.values(error.fields).flatMap((faults) => faults.map(({ message }) => message))
  // Messages that are not sentences are left out, because they can only be understood next to the field name.
  const sentences = messages.filter((message) => message.endsWith("."))
  // The general message says what to do, unless it repeats the message of a field or only refers to the fields.
  const refersToFields = sentences.includes(error.message) || error.message.includes("See the fields")
  return refersToFields && sentences.length > 0
    ? sentences.map((text) => text.replace(placeInList, "")).join(" ")
    : error.message
}

/**
 * A request fails if its response takes longer than this. The value is larger than the default request deadline of the
 * service, to allow for a slow network.
 */
const timeoutMs = 60_000

export interface RequestOptions {
  readonly token?: string | undefined
  readonly body?: unknown
  readonly withCookies?: boolean
  readonly idempotencyKey?: string | undefined
}

const headersOf = ({ body, idempotencyKey, token }: RequestOptions): Record<string, string> => ({
  ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
})

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface Exchange {
  readonly headers: Headers
  /** The parsed body. An empty object if the response has none, or no JSON. */
  readonly body: unknown
}

/** Sends one request. Throws a `Problem` if there is no response or an error response. */
export const exchange = async (
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Exchange> => {
  // Without a timeout, a request can wait for 15 minutes after the computer changes to another network.
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), timeoutMs)
  let response: Response
  let text: string
  try {
    response = await fetch(path, {
      method,
      headers: headersOf(options),
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      credentials: options.withCookies === true ? "same-origin" : "omit",
      signal: timeout.signal,
    })
    text = await response.text()
  } catch {
    throw new Problem(0, { error: "The service cannot be reached. Try again." })
  } finally {
    clearTimeout(timer)
  }
  noteServerTime(response.headers.get("date"))
  const body = parse(text) ?? {}
  if (!response.ok) throw new Problem(response.status, body, response.headers.get("retry-after"))
  return { headers: response.headers, body }
}
