import { Result } from "effect"
import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import { paymentAddresses } from "../../../schema/directory/record-selection.ts"
import { parseTag, parseTagFilter } from "../../../schema/directory/record-tag.ts"
import { parseTicker } from "../../../schema/directory/ticker.ts"
import { parseQueryText } from "../../http/request/decode.ts"
import { withTags, withTicker } from "./answer.ts"

/** What the `tags` parameter leaves of a lookup; undefined when it names no tags. */
export const selectByTags = (whole: LookupResponse, text: string | undefined): LookupResponse | undefined => {
  if (text === undefined || text === "") return whole
  const tags = parseTagFilter(text)
  return tags === undefined ? undefined : withTags(whole, tags)
}

const maxQueryUnits = 512

/** The same from a query string as it was sent; undefined too for one the handler had better look at. */
export const selectByQuery = (whole: LookupResponse, query: string): LookupResponse | undefined => {
  if (query.length > maxQueryUnits) return undefined
  const parameters = parseQueryText(query)
  return Result.isSuccess(parameters) ? selectByTags(whole, parameters.success["tags"]) : undefined
}

/** What the ticker form answers; undefined for what is neither ticker nor tag. */
export const selectByTicker = (whole: LookupResponse, text: string | undefined) => {
  if (text === undefined || (parseTag(text) === undefined && parseTicker(text) === undefined))
    return undefined
  return withTicker(whole, text)
}

/** What the payment form answers. The short envelope has no stats. */
export const paymentForm = ({ error, result, status, version }: LookupResponse) => ({
  status,
  result: paymentAddresses(result),
  error,
  version,
})
