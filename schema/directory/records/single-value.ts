import { findRecordClass, formatTag, parseTag, tags } from "./record-tag.ts"

export interface TaggedData {
  readonly tag: string
  readonly data: string
}

export const genericTicker = (data: string): string => data.split("|", 1)[0]!.toUpperCase()

const singleValueTags: ReadonlySet<number> = new Set([
  tags.description,
  tags.redirect,
  tags.nickname,
  tags.preferredForm,
])

/**
 * Returns the key of a record's single-value category. A new record replaces the old record with the same key.
 * Undefined if an id can have several records of this kind.
 */
export const findSingleValueKey = ({ data, tag }: TaggedData): string | undefined => {
  const number = parseTag(tag)
  if (number === undefined) return undefined
  if (number === tags.genericCrypto) return `${formatTag(number)}:${genericTicker(data)}`
  if (singleValueTags.has(number) || findRecordClass(number) === "crypto") return formatTag(number)
  return undefined
}
