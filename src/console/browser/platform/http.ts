import { ApiError } from "../../../client/api-error.ts"
import { NetworkError } from "../../../client/network-error.ts"

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

/** Sends a request without the session cookie, because each tab has its own session, and reads the server's clock. */
export const fetchNoted: typeof fetch = async (input, init) => {
  const response = await fetch(input, { credentials: "omit", ...init })
  noteServerTime(response.headers.get("date"))
  return response
}

/** A failure of this page. The message tells the user what happened and what to do. */
export class PageError extends Error {}

/**
 * The first part of messages such as `insert.0: A web link is …`. It is removed, because a form has only one such
 * field.
 */
const placeInList = /^\w+\.\d+: /

export const explain = (error: unknown): string => {
  if (error instanceof NetworkError) return "The service cannot be reached. Try again."
  if (error instanceof PageError) return error.message
  if (!(error instanceof ApiError)) return "An error occurred on this page. Reload the page."
  const messages = Object.values(error.fields).flatMap((faults) => faults.map(({ message }) => message))
  // Messages that are not sentences are left out, because they can only be understood next to the field name.
  const sentences = messages.filter((message) => message.endsWith("."))
  // The general message says what to do, unless it repeats the message of a field or only refers to the fields.
  const refersToFields = sentences.includes(error.message) || error.message.includes("See the fields")
  return refersToFields && sentences.length > 0
    ? sentences.map((text) => text.replace(placeInList, "")).join(" ")
    : error.message
}
