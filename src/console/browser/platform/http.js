import { signal } from "../parts/signal.js"

/**
 * How far the server's clock is ahead of the local clock, in milliseconds. Deadlines are compared with the server's
 * clock.
 */
let aheadMs = 0
export const serverNow = () => Date.now() + aheadMs

/**
 * Corrects `aheadMs` by the Date header of a response. The header has a resolution of one second, so smaller
 * differences are ignored.
 * @param {string | null} date
 */
const noteServerTime = (date) => {
  const difference = date === null ? Number.NaN : Date.parse(date) + 500 - Date.now()
  if (Math.abs(difference - aheadMs) > 1000) aheadMs = difference
}

/** An error response of the service. The status is 0 if there was no response. */
export class Problem extends Error {
  /** @param {number} status @param {Record<string, unknown>} body @param {string | null} [retryAfter] */
  constructor(status, body, retryAfter) {
    super(typeof body.error === "string" ? body.error : `The service returned status ${status}.`)
    this.status = status
    this.code = body.code
    /** @type {Record<string, ReadonlyArray<{code: string, message: string}>>} */
    this.fields = body.fields ?? {}
    this.body = body
    this.retryAfterSeconds = Number(retryAfter ?? 0)
  }
}

/**
 * The first part of messages such as `insert.0: A web link is …`. It is removed, because a form has only one such
 * field.
 */
const placeInList = /^\w+\.\d+: /

/** @param {unknown} error */
export const explain = (error) => {
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

/** Whether the last request reached the service. */
export const reachable = signal(true)

/**
 * Sends one request to the API.
 * @param {string} method @param {string} path
 * @param {{token?: string | undefined, body?: unknown, withCookies?: boolean, idempotencyKey?: string | undefined, onHeaders?: ((headers: Headers) => void) | undefined}} [options]
 */
export const request = async (
  method,
  path,
  { body, idempotencyKey, onHeaders, token, withCookies = false } = {},
) => {
  const headers = {
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
  }
  // Without a timeout, a request can wait for 15 minutes after the computer changes to another network.
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), timeoutMs)
  let response
  let text
  try {
    response = await fetch(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: withCookies ? "same-origin" : "omit",
      signal: timeout.signal,
    })
    text = await response.text()
  } catch {
    reachable.set(false)
    throw new Problem(0, { error: "The service cannot be reached. Try again." })
  } finally {
    clearTimeout(timer)
  }
  if (!reachable.value) reachable.set(true)
  noteServerTime(response.headers.get("date"))
  let answer = {}
  try {
    answer = text === "" ? {} : JSON.parse(text)
  } catch {
    answer = {}
  }
  if (!response.ok) throw new Problem(response.status, answer ?? {}, response.headers.get("retry-after"))
  onHeaders?.(response.headers)
  return answer
}
