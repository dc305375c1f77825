import type { EmojiId } from "../../../schema/directory/emoji-id.ts"
import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import { viewsMetric } from "../../../schema/directory/metric.ts"
import type { DirectoryRecord } from "../../../schema/directory/records/record.ts"
import { recordsOfTicker } from "../../../schema/directory/records/record-selection.ts"
import { formatTag, parseTag } from "../../../schema/directory/records/record-tag.ts"
import { NotFound } from "../../../schema/errors.ts"
import type { Precomputed, RawResponse } from "../../http/endpoint.ts"
import { errorCodeHeader } from "../../http/response/error-code.ts"
import { StaticResponse } from "../../http/response/static.ts"

/** A registered id as it is stored in the database. */
export interface LookupRow {
  readonly canonical: string
  readonly version: number
  readonly tokenId: number
  readonly records: ReadonlyArray<DirectoryRecord>
  readonly views: number
  /** When the id got its owner, if payers are warned about that. */
  readonly ownerChangedAt?: string | undefined
}

// With `no-cache`, a client may store the response, but it must revalidate it before each use. A wallet must never use
// a stale address.
export const lookupHeaders = { "Content-Type": "application/json", "Cache-Control": "no-cache" }
export const missingHeaders = { ...lookupHeaders, [errorCodeHeader]: NotFound.kind.code }
const linesOf = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\r\n")
const lines = linesOf(lookupHeaders)
export const heads = {
  found: { code: 200, status: "200 OK", lines },
  unchanged: { code: 304, status: "304 Not Modified", lines },
  missing: { code: 404, status: "404 Not Found", lines: linesOf(missingHeaders) },
}

export const notRegisteredText = "This emoji id is not registered."

const etagLine = "\r\nETag: "

/** The response to a lookup, as text. */
export interface LookupAnswer {
  /**
   * The header lines that only this response has (its ETag), as they are sent. Empty for an id that is not registered.
   */
  readonly own: string
  readonly body: string
}

/**
 * The answer for every id that is not registered. The cache stores no header lines and no body for such an id, so
 * caching it needs little more memory than its key.
 */
export const notRegistered: LookupAnswer = { own: "", body: JSON.stringify({ error: notRegisteredText }) }
export const isRegistered = ({ own }: LookupAnswer): boolean => own !== ""

/** Makes the response of a handler. It has the same bytes as the cached response that the next request gets. */
export const rawResponse = (
  { body, own }: LookupAnswer,
  ifNoneMatch = "",
): RawResponse & Required<Pick<RawResponse, "body" | "headers">> => {
  if (own === "") return { status: 404, headers: missingHeaders, body }
  const headers = { ETag: etagOf(own), ...lookupHeaders }
  return isHeld(own, ifNoneMatch) ? { status: 304, headers, body: "" } : { status: 200, headers, body }
}

export const missing = new StaticResponse(heads.missing, notRegistered.own, notRegistered.body)

/**
 * Increase this number when a release changes what is returned for the same records, for example the rules of
 * /resolve or the addresses in /payment. It is a part of the ETag, so clients do not keep a response of an earlier
 * release.
 */
const answerFormat = 2

/**
 * Makes the response to a lookup of a registered id. The ETag is weak, because two responses with the same version may
 * differ in their view count. The ETag contains the token id. An id that is removed and registered again gets a new
 * token id, so it never has an ETag that it had before.
 */
export const lookupAnswer = (id: EmojiId, row: LookupRow, nowMs: number): LookupAnswer => {
  const response: LookupResponse = {
    status: true,
    result: row.records,
    error: null,
    stats: [viewsMetric(id, row.views, nowMs)],
    ...(row.ownerChangedAt !== undefined && { owner_changed_at: row.ownerChangedAt }),
    version: row.version,
  }
  return {
    own: `${etagLine}W/"${row.tokenId}-${row.version}-${answerFormat}"`,
    body: JSON.stringify(response),
  }
}

export const etagOf = (own: string): string => own.slice(etagLine.length)

/**
 * Whether the If-None-Match header contains the ETag of this response or is `*`. The comparison is weak: it ignores W/.
 * The header may contain several ETags.
 */
export const isHeld = (own: string, ifNoneMatch: string): boolean =>
  ifNoneMatch !== "" &&
  own !== "" &&
  (ifNoneMatch.includes(etagOf(own).slice("W/".length)) || ifNoneMatch.trim() === "*")

export const notModified = (own: string): Precomputed => new StaticResponse(heads.unchanged, own, "")

/**
 * Parses the body of an answer. Answers are stored only as text, because most lookups return the whole text, and only
 * selections of records need the parsed form.
 */
export const readAnswer = ({ body }: LookupAnswer): LookupResponse => JSON.parse(body)

export const withTags = (whole: LookupResponse, tags: ReadonlySet<number>): LookupResponse => ({
  ...whole,
  result: whole.result.filter(({ tag }) => tags.has(parseTag(tag) ?? -1)),
})

/**
 * Returns a lookup response with only the records of a ticker, or of a tag if `ticker` is a hex tag. The response has
 * no stats.
 */
export const withTicker = ({ error, result, status, version }: LookupResponse, ticker: string) => {
  const tag = parseTag(ticker)
  const chosen =
    tag === undefined
      ? recordsOfTicker(result, ticker)
      : result.filter((record) => record.tag === formatTag(tag))
  return { status, result: chosen, error, version }
}

export const preparedSelection = (own: string, selected: unknown): Precomputed =>
  new StaticResponse(heads.found, own, JSON.stringify(selected))
