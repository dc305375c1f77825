import { createHash, timingSafeEqual } from "node:crypto"
import type { EmojiId } from "../../../schema/directory/emoji-id.ts"
import {
  type DirectoryRecord,
  normalizeRecord,
  RecordRefused,
} from "../../../schema/directory/records/record.ts"
import { addressForm, chainOf, parsePaymentData } from "../../../schema/directory/records/record-data.ts"
import { recordsOfTicker } from "../../../schema/directory/records/record-selection.ts"
import { findRecordClass, parseTag, tags } from "../../../schema/directory/records/record-tag.ts"
import { parseTicker } from "../../../schema/directory/ticker.ts"

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/**
 * Returns the given data in the form in which it would be stored, so that every accepted spelling of it matches. Data
 * that is not valid for the tag is returned unchanged.
 */
const storedForm = (id: EmojiId, tag: string, data: string): string => {
  const record = normalizeRecord({ tag, data }, id)
  return record instanceof RecordRefused ? data : record.data
}

/**
 * Returns pairs of a stored and a given text. A record is confirmed if the two texts of one pair are equal. The first
 * pair is the complete data. A payment record has a second pair: only its address.
 */
const pairsOf = (id: EmojiId, { data, tag }: DirectoryRecord, given: string) => {
  const all = [data, storedForm(id, tag, given)] as const
  const number = parseTag(tag) ?? -1
  const recordClass = findRecordClass(number)
  if (recordClass !== "crypto" && recordClass !== "payment" && number !== tags.token) return [all]
  const payment = parsePaymentData(number, data)
  const chain = chainOf(number, payment)
  return payment === undefined
    ? [all]
    : [all, [addressForm(chain, payment.address), addressForm(chain, given)] as const]
}

/**
 * Whether one of the records has this data. Undefined if `tagOrTicker` is neither a tag nor a ticker. All records of
 * the tag or ticker are always compared, by their digests, so that the response time does not reveal how similar a
 * wrong value is.
 */
export const isConfirmed = (
  id: EmojiId,
  records: ReadonlyArray<DirectoryRecord>,
  tagOrTicker: string,
  data: string,
): boolean | undefined => {
  const tag = parseTag(tagOrTicker)
  if (tag === undefined && parseTicker(tagOrTicker) === undefined) return undefined
  const candidates =
    tag === undefined
      ? recordsOfTicker(records, tagOrTicker)
      : records.filter((record) => parseTag(record.tag) === tag)
  let isFound = false
  for (const record of candidates) {
    for (const [stored, given] of pairsOf(id, record, data))
      isFound = timingSafeEqual(digest(given), digest(stored)) || isFound
  }
  return isFound
}
