import type { EmojiId } from "../../schema/emoji-id.ts"
import type { LookupResponse } from "../../schema/lookup.ts"
import { viewsMetric } from "../../schema/metric.ts"
import type { DirectoryRecord } from "../../schema/record.ts"
import { recordsOfTicker } from "../../schema/record-selection.ts"
import { formatTag, parseTag } from "../../schema/record-tag.ts"
import type { Prepared } from "../http/exchange.ts"

/** What the database says about a registered id. */
export interface LookupRow {
  readonly canonical: string
  readonly version: number
  readonly tokenId: number
  readonly records: ReadonlyArray<DirectoryRecord>
  readonly views: number
}

/** Everything a lookup of one id can answer without asking again. */
export interface LookupAnswer {
  readonly answer: Prepared
  /** Undefined where there is nothing to revalidate. */
  readonly notModified: Prepared | undefined
  /** The quoted part of the ETag: found in If-None-Match however that is written. */
  readonly opaqueTag: string
}

// A wallet must never act on a stale address: caches may keep an answer, but have to ask whether it still holds.
export const lookupHeaders = { "Content-Type": "application/json", "Cache-Control": "no-cache" }
const head = `${lookupHeaders["Content-Type"]}\r\nCache-Control: ${lookupHeaders["Cache-Control"]}`

export const notRegisteredText = "This emoji id is not registered."

const ok = (body: string, etag: string): Prepared => ({
  status: "200 OK",
  head,
  own: `\r\nETag: ${etag}`,
  body,
})

/** One for all ids that are not registered, so that remembering one costs little more than its name. */
export const notRegistered: LookupAnswer = {
  answer: { status: "404 Not Found", head, own: "", body: JSON.stringify({ error: notRegisteredText }) },
  notModified: undefined,
  opaqueTag: "",
}

/**
 * The tag is weak: two answers of one version differ at most in their view count. The token's number is in it because an id
 * that was given up and registered anew starts again at version 1.
 */
export const lookupAnswer = (id: EmojiId, row: LookupRow, nowMs: number): LookupAnswer => {
  const opaqueTag = `"${row.tokenId}-${row.version}"`
  const etag = `W/${opaqueTag}`
  const response: LookupResponse = {
    status: true,
    result: row.records,
    error: null,
    stats: [viewsMetric(id, row.views, nowMs)],
    version: row.version,
  }
  return {
    answer: ok(JSON.stringify(response), etag),
    notModified: { status: "304 Not Modified", head, own: `\r\nETag: ${etag}`, body: "" },
    opaqueTag,
  }
}

export const etagOf = ({ opaqueTag }: LookupAnswer): string => `W/${opaqueTag}`

/** The whole answer as a value again. Answers are kept as text alone; a selection from one is rare enough to parse it. */
export const readAnswer = ({ answer }: LookupAnswer): LookupResponse => JSON.parse(answer.body as string)

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

export const preparedSelection = (lookup: LookupAnswer, selected: unknown): Prepared =>
  ok(JSON.stringify(selected), etagOf(lookup))
