import { Result } from "effect"
import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import { paymentAddresses } from "../../../schema/directory/records/record-selection.ts"
import { parseTag, parseTagFilter } from "../../../schema/directory/records/record-tag.ts"
import { parseTicker } from "../../../schema/directory/ticker.ts"
import { parseQueryText } from "../../http/request/decode.ts"
import { withTags, withTicker } from "./answer.ts"

/**
 * Returns the lookup response with only the records that the `tags` parameter selects, or with all records if the
 * parameter is missing or empty. Undefined if the parameter is not a list of tags.
 */
export const selectByTags = (whole: LookupResponse, text: string | undefined): LookupResponse | undefined => {
  if (text === undefined || text === "") return whole
  const tags = parseTagFilter(text)
  return tags === undefined ? undefined : withTags(whole, tags)
}

/** The usual query of a lookup of all records with a proof. */
export const wholeWithProof = "proof=true"

/**
 * Whether a query string may ask for a proof: it contains the name of the parameter, or an escape of a letter. The handler
 * decodes the query.
 */
export const mayWantProof = (query: string): boolean =>
  query === wholeWithProof || (query !== "" && /proof|%[67]/i.test(query))

export const maxQueryUnits = 512

/**
 * Like `selectByTags`, with the raw query string. Also returns undefined if the query is too long or malformed. The
 * route's handler then sends the error.
 */
export const selectByQuery = (whole: LookupResponse, query: string): LookupResponse | undefined => {
  if (query.length > maxQueryUnits) return undefined
  const parameters = parseQueryText(query)
  return Result.isSuccess(parameters) ? selectByTags(whole, parameters.success["tags"]) : undefined
}

/** Returns the response of the ticker route. Undefined if the text is neither a ticker nor a tag. */
export const selectByTicker = (whole: LookupResponse, text: string | undefined) => {
  if (text === undefined || (parseTag(text) === undefined && parseTicker(text) === undefined))
    return undefined
  return withTicker(whole, text)
}

/** Returns the response of the payment route. It has no stats. */
export const paymentForm = ({ error, result, status, version }: LookupResponse) => ({
  status,
  result: paymentAddresses(result),
  error,
  version,
})
