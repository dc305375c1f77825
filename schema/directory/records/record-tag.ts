/**
 * The tag of a record is an unsigned 16-bit number. In responses it is written as 0x and four lower-case hex digits.
 */

export const tags = {
  registeredPubkey: 0x0000,
  displayModifiers: 0x0001,
  description: 0x0002,
  expiry: 0x0003,
  redirect: 0x0004,
  nickname: 0x0005,
  preferredForm: 0x0006,
  chainPubkey: 0x0101,
  hexPubkey: 0x0103,
  base58Pubkey: 0x0104,
  moneroSubaddress: 0x1002,
  bitcoin: 0x1003,
  ethereum: 0x1004,
  genericCrypto: 0x3fff,
  webUrl: 0x4001,
  text: 0x5001,
  paymentAddress: 0x6200,
  token: 0x6300,
} as const

/**
 * The tags that only a caller with the scope adminEmoji:updateSecureData may write or delete. Readers take these records
 * for statements of the service, not of the owner.
 */
export const secureTags: ReadonlySet<number> = new Set([tags.registeredPubkey, tags.expiry])

export type RecordClass =
  | "id"
  | "crypto"
  | "url"
  | "dns"
  | "text"
  | "social"
  | "location"
  | "payment"
  | "token"

/**
 * The record classes, ordered by tag. Each class ends with the given high byte of the tag and begins after the previous
 * class. Null means that the range is not used.
 */
export const recordClasses: ReadonlyArray<readonly [lastHighByte: number, RecordClass | null]> = [
  [0x0f, "id"],
  [0x3f, "crypto"],
  [0x40, "url"],
  [0x42, "dns"],
  [0x4f, null],
  [0x5f, "text"],
  [0x60, "social"],
  [0x61, "location"],
  [0x62, "payment"],
  [0x63, "token"],
]

export const findRecordClass = (tag: number): RecordClass | undefined =>
  recordClasses.find(([lastHighByte]) => tag >> 8 <= lastHighByte)?.[1] ?? undefined

export const formatTag = (tag: number): string => `0x${tag.toString(16).padStart(4, "0")}`

/**
 * Parses a tag: 0x and one to four hex digits, in upper or lower case. A tag without 0x, such as "1003", is rejected,
 * because it may be meant as decimal.
 */
export const parseTag = (text: string): number | undefined =>
  /^0x[0-9a-f]{1,4}$/i.test(text) ? Number(text) : undefined

/** Parses a tag of the `address_json` parameter, in which partners send hex or decimal tags. */
export const parseHexOrDecimalTag = (text: string): number | undefined => {
  if (!/^\d{1,5}$/.test(text)) return parseTag(text)
  const tag = Number(text)
  return tag <= 0xffff ? tag : undefined
}

const maxTagsPerFilter = 256

/** Parses a comma-separated list of tags. Undefined if one part is not a tag, or if there are more than 256. */
export const parseTagFilter = (text: string): ReadonlySet<number> | undefined => {
  const parts = text.split(",", maxTagsPerFilter + 1)
  if (parts.length > maxTagsPerFilter) return undefined
  const parsed = new Set<number>()
  for (const part of parts) {
    const tag = parseTag(part.trim())
    if (tag === undefined) return undefined
    parsed.add(tag)
  }
  return parsed
}
