import type { EmojiId } from "../../../schema/directory/emoji-id.ts"
import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import { viewsMetric } from "../../../schema/directory/metric.ts"
import type { DirectoryRecord } from "../../../schema/directory/record.ts"
import { recordsOfTicker } from "../../../schema/directory/record-selection.ts"
import { formatTag, parseTag } from "../../../schema/directory/record-tag.ts"
import type { Precomputed } from "../../http/endpoint.ts"
import { StaticResponse } from "../../http/response/static.ts"

/** What the database says about a registered id. */
export interface LookupRow {
  readonly canonical: string
  readonly version: number
  readonly tokenId: number
  readonly records: ReadonlyArray<DirectoryRecord>
  readonly views: number
}

// A wallet must never act on a stale address: caches may keep an answer, but have to ask whether it still holds.
export const lookupHeaders = { "Content-Type": "application/json", "Cache-Control": "no-cache" }
const lines = Object.entries(lookupHeaders)
  .map(([name, value]) => `${name}: ${value}`)
  .join("\r\n")
export const heads = {
  found: { status: "200 OK", lines },
  unchanged: { status: "304 Not Modified", lines },
  missing: { status: "404 Not Found", lines },
}

export const notRegisteredText = "This emoji id is not registered."

const etagLine = "\r\nETag: "

/** What a lookup answers, as text. */
export interface LookupAnswer {
  /** Header lines of this answer alone, as they are sent; none for an id that is not registered. */
  readonly own: string
  readonly body: string
}

/** One for all ids that are not registered, so that remembering one costs little more than its name. */
export const notRegistered: LookupAnswer = { own: "", body: JSON.stringify({ error: notRegisteredText }) }
export const isRegistered = ({ own }: LookupAnswer): boolean => own !== ""

export const missing = new StaticResponse(heads.missing, notRegistered.own, notRegistered.body)

/**
 * The tag is weak: two responses of one version differ at most in their view count. The token id is part of it, because an id
 * that is released and registered again gets a new one: the tag changes with the owner even if the version did not.
 */
export const lookupAnswer = (id: EmojiId, row: LookupRow, nowMs: number): LookupAnswer => {
  const response: LookupResponse = {
    status: true,
    result: row.records,
    error: null,
    stats: [viewsMetric(id, row.views, nowMs)],
    version: row.version,
  }
  return { own: `${etagLine}W/"${row.tokenId}-${row.version}"`, body: JSON.stringify(response) }
}

export const etagOf = (own: string): string => own.slice(etagLine.length)

/** Whether a client holds this answer already. Weak comparison: W/ or not, one tag or many. */
export const isHeld = (own: string, ifNoneMatch: string): boolean =>
  ifNoneMatch !== "" &&
  own !== "" &&
  (ifNoneMatch.includes(etagOf(own).slice("W/".length)) || ifNoneMatch.trim() === "*")

export const notModified = (own: string): Precomputed => new StaticResponse(heads.unchanged, own, "")

/** The whole answer as a value again. Answers are kept as text alone; a selection from one is rare enough to parse it. */
export const readAnswer = ({ body }: LookupAnswer): LookupResponse => JSON.parse(body)

export const withTags = (whole: LookupResponse, tags: ReadonlySet<number>): LookupResponse => ({
  ...whole,
  result: whole.result.filter(({ tag }) => tags.has(parseTag(tag) ?? -1)),
})

/** Only the records of a ticker, or of a tag where the path names one; the short envelope has no stats. */
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
