import { createHash, timingSafeEqual } from "node:crypto"
import type { EmojiId } from "../../../schema/directory/emoji-id.ts"
import { type DirectoryRecord, normalizeRecord, RecordRefused } from "../../../schema/directory/record.ts"
import { addressForm, chainOf, parsePaymentData } from "../../../schema/directory/record-data.ts"
import { recordsOfTicker } from "../../../schema/directory/record-selection.ts"
import { findRecordClass, parseTag, tags } from "../../../schema/directory/record-tag.ts"
import { parseTicker } from "../../../schema/directory/ticker.ts"

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** As it would be stored, so that data counts in every spelling of it. */
const storedForm = (id: EmojiId, tag: string, data: string): string => {
  const record = normalizeRecord({ tag, data }, id)
  return record instanceof RecordRefused ? data : record.data
}

/** What a record can be confirmed by, beside what was given for it: all of its data, or of a payment record the address alone. */
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
 * Whether one of the records says this; undefined for what is neither tag nor ticker. Every record is compared, over
 * digests, so the time taken tells nothing about how near a guess was.
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
    for (const [kept, given] of pairsOf(id, record, data))
      isFound = timingSafeEqual(digest(given), digest(kept)) || isFound
  }
  return isFound
}
