import { signal } from "../parts/signal.js"

/** How far the server's clock is ahead of ours, in milliseconds: deadlines are the server's. */
let aheadMs = 0
export const serverNow = () => Date.now() + aheadMs

/** The header tells whole seconds, so a smaller difference is none. @param {string | null} date */
const noteServerTime = (date) => {
  const seen = date === null ? Number.NaN : Date.parse(date) + 500 - Date.now()
  if (Math.abs(seen - aheadMs) > 1000) aheadMs = seen
}

/** An answer that is not a success. */
export class Problem extends Error {
  /** @param {number} status @param {Record<string, unknown>} body @param {string | null} [retryAfter] */
  constructor(status, body, retryAfter) {
    super(typeof body.error === "string" ? body.error : `The service answered ${status}.`)
    this.status = status
    this.code = body.code
    /** @type {Record<string, ReadonlyArray<{code: string, message: string}>>} */
    this.fields = body.fields ?? {}
    this.body = body
    this.retryAfterSeconds = Number(retryAfter ?? 0)
  }
}

/** As in `insert.0: A web link is …`, where forms have one field. */
const placeInList = /^\w+\.\d+: /

/** @param {unknown} error */
export const explain = (error) => {
  if (!(error instanceof Problem)) return "Something went wrong here. Reload the page."
  const messages = Object.values(error.fields).flatMap((faults) => faults.map(({ message }) => message))
  // Others are words for programs: they mean something beside the name of the field only.
  const sentences = messages.filter((message) => message.endsWith("."))
  return sentences.length > 0
    ? sentences.map((text) => text.replace(placeInList, "")).join(" ")
    : error.message
}

/** Longer than the service takes for an answer, with time for a slow network. */
const patienceMs = 60_000

/** Whether the last request found the service. */
export const reachable = signal(true)

/**
 * One request to the API.
 * @param {string} method @param {string} path
 * @param {{token?: string | undefined, body?: unknown, withCookies?: boolean, idempotencyKey?: string}} [options]
 */
export const request = async (method, path, { body, idempotencyKey, token, withCookies = false } = {}) => {
  const headers = {
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
  }
  // What nobody answers any more, as after a change of networks, may otherwise hang for a quarter of an hour.
  const patience = new AbortController()
  const timer = setTimeout(() => patience.abort(), patienceMs)
  let response
  let text
  try {
    response = await fetch(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: withCookies ? "same-origin" : "omit",
      signal: patience.signal,
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
  return answer
}
