import { Schema } from "effect"
import type { RawResponse } from "../endpoint.ts"
import type { RateHeaders } from "../guards.ts"
import { isWrite, type Route } from "../route.ts"
import { Reply } from "./reply.ts"

const jsonHeaders = { "Content-Type": "application/json" }
/**
 * Forbids caches to store a private response. By themselves, caches detect a private response only by the
 * Authorization header, which a request with X-Api-Key does not have.
 */
export const privateHeaders = { "Cache-Control": "no-store" }
/**
 * Makes caches ask again before they use a stored response. Without Cache-Control, many caches use a response for a
 * time that they choose.
 */
const publicHeaders = { "Cache-Control": "no-cache" }

const headersFor = (route: Route) => {
  if (isWrite(route)) return {}
  return route.auth === "none" ? publicHeaders : privateHeaders
}

/**
 * Returns the function that converts a value of the handler into a response. With `checkAnswers`, a value that does not
 * match the schema is an error.
 */
export const makeEncode = (route: Route, checkAnswers: boolean) => {
  const status = route.status ?? 200
  const isAnswer = Schema.is(Schema.toEncoded(route.success))
  const caching = headersFor(route)
  const ownHeaders = { ...jsonHeaders, ...caching }
  const json = (value: unknown): string => {
    if (checkAnswers && !isAnswer(value)) {
      throw new Error(`response of ${route.id} does not match its schema: ${JSON.stringify(value)}`)
    }
    return JSON.stringify(value) ?? "null"
  }
  const declared = new Set<number | undefined>([status, ...(route.redirects ?? [])])
  return (value: unknown, rate: RateHeaders | undefined): RawResponse => {
    if (checkAnswers && value instanceof Reply && value.headers["Location"] && !declared.has(value.status))
      throw new Error(`${route.id} redirects with an undeclared status: ${value.status}`)
    if (!(value instanceof Reply)) {
      return {
        status,
        headers: rate === undefined ? ownHeaders : { ...ownHeaders, ...rate },
        body: json(value),
      }
    }
    return value.raw === undefined
      ? {
          status: value.status ?? status,
          headers: { ...ownHeaders, ...rate, ...value.headers },
          body: json(value.value),
        }
      : {
          status: value.status ?? status,
          headers: { ...caching, ...rate, ...value.headers },
          body: value.raw,
        }
  }
}
