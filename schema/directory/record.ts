import { blake2b } from "@noble/hashes/blake2.js"
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import { Schema } from "effect"
import { parseEthereumAddress } from "./address.ts"
import { isChainKey, isHexChainKey, parseChainKey } from "./chain-key.ts"
import { parseDisplayModifiers } from "./emoji-display.ts"
import { type EmojiId, parseEmojiId } from "./emoji-id.ts"
import { chainOf, isAddressOf, parsePaymentData } from "./record-data.ts"
import { parseWebLink, parseWebUrl } from "./record-link.ts"
import { findRecordClass, formatTag, parseTag, tags } from "./record-tag.ts"

export const maxRecordBytes = 4096

/** A record in a request. */
export const RecordInput = Schema.Struct({
  tag: Schema.String.annotate({
    description:
      "The category: `0x` and one to four hex digits, for example `0x1003` for Bitcoin. The page Records lists all tags.",
  }),
  data: Schema.String.annotate({
    description: `The value, with at most ${maxRecordBytes} bytes. Its form depends on the tag: an address, a URL, a key or a text.`,
  }),
}).annotate({ identifier: "RecordInput" })
export type RecordInput = typeof RecordInput.Type

/**
 * A record as it is stored and returned. The tag has the form 0x and four hex digits. The data has the form that
 * `normalizeRecord` returns. The hash identifies the record.
 */
export const DirectoryRecord = Schema.Struct({
  tag: Schema.String.annotate({ description: "The category, as `0x` and four hex digits in lower case." }),
  data: Schema.String.annotate({
    description:
      "The value as it is stored. An Ethereum address (tag `0x1004`) is stored in lower case without `0x`.",
  }),
  hash: Schema.String.annotate({
    description: "Identifies the record. Send it in `delete` to remove the record.",
  }),
}).annotate({
  identifier: "DirectoryRecord",
})
export type DirectoryRecord = typeof DirectoryRecord.Type

export class RecordRefused {
  readonly _tag = "RecordRefused"
  readonly code:
    | "invalid_tag"
    | "unknown_tag"
    | "empty"
    | "too_long"
    | "invalid_text"
    | "invalid_hex"
    | "invalid_base58"
    | "invalid_address"
    | "invalid_url"
    | "invalid_display_modifiers"
    | "invalid_pubkey"
    | "invalid_date"
  readonly message: string

  constructor(code: RecordRefused["code"], message: string) {
    this.code = code
    this.message = message
  }
}

/** Returns the hash of a record: Blake2b-256 of the tag (two bytes, low byte first) and the data bytes. */
export const recordHash = (tag: number, data: Uint8Array): string =>
  bytesToHex(blake2b(concatBytes(Uint8Array.of(tag & 0xff, tag >> 8), data), { dkLen: 32 }))

export interface DisplayRecord {
  readonly data: string
  readonly hash: string
}

/**
 * Returns the display modifiers record for an id that was requested in this spelling. Undefined if the spelling is the
 * canonical form, which needs no record.
 */
export const displayRecord = (canonical: string, spelled: string): DisplayRecord | undefined =>
  spelled === canonical
    ? undefined
    : { data: spelled, hash: recordHash(tags.displayModifiers, utf8ToBytes(spelled)) }

/**
 * Returns the bytes of a record's data that are hashed. The data of a hex chain key is decoded. The data of
 * an Ethereum record begins with 40 hex digits, which are decoded to 20 bytes. The rest of it (description, signature
 * and default flag, each after a vertical bar) is UTF-8. Because the address always has 20 bytes, two different records
 * never have the same bytes.
 */
export const recordDataBytes = (tag: number, data: string): Uint8Array => {
  if (isHexChainKey(tag)) return hexToBytes(data)
  if (tag === tags.ethereum) return concatBytes(hexToBytes(data.slice(0, 40)), utf8ToBytes(data.slice(40)))
  return utf8ToBytes(data)
}

const normalizeChainKey = (tag: number, data: string): string | RecordRefused => {
  const key = parseChainKey(tag, data)
  if (key !== undefined) return key
  return isHexChainKey(tag)
    ? new RecordRefused("invalid_hex", "The data must be hex with an even number of digits.")
    : new RecordRefused("invalid_base58", "The data must be a public key in base58.")
}

const genericExample = "KAS|kaspa:qqkqkzjvr7zwxxmjxjkmxxdwju9kjs6e9u82uh59z07vgaks6gg62v8707g73"

const invalidAddressText = (tag: number): string => {
  if (tag === tags.bitcoin) return "This is not a valid Bitcoin address."
  if (tag === tags.ethereum) return "This is not a valid Ethereum address."
  if (tag === tags.genericCrypto) {
    return `Data of tag 0x3fff must name the currency before the address: TICKER|ADDRESS, for example ${genericExample}. The ticker has at most 16 letters and digits, and the address must be valid.`
  }
  if (tag === tags.token)
    return "The data must have the form SHORT_NAME|LONG_NAME|NETWORK|ADDRESS, with a valid address."
  return `This is not a valid address for tag ${formatTag(tag)}.`
}

const normalizePayment = (tag: number, data: string): string | RecordRefused => {
  const payment = parsePaymentData(tag, data)
  if (payment === undefined || !isAddressOf(chainOf(tag, payment), payment.address)) {
    return new RecordRefused("invalid_address", invalidAddressText(tag))
  }
  if (tag !== tags.ethereum) return data
  const [address = "", ...rest] = data.split("|")
  return [parseEthereumAddress(address), ...rest].join("|")
}

const isDateTime = (data: string): boolean => {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/.test(data)) return false
  const ms = Date.parse(data)
  // The parser changes a day that the month does not have to a day of the next month.
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === data.slice(0, 10)
}

const isDisplayOf = (id: EmojiId | undefined, data: string): boolean =>
  id === undefined ? parseEmojiId(data)._tag === "EmojiId" : parseDisplayModifiers(id, data) !== undefined

/**
 * Validates the data of a record and returns the form that is stored. Only Ethereum addresses and chain keys are
 * converted. All other data is stored unchanged, so that a client can compute the hash of the data that it sends.
 */
const normalizeData = (tag: number, data: string, id: EmojiId | undefined): string | RecordRefused => {
  const recordClass = findRecordClass(tag)
  if (recordClass === undefined)
    return new RecordRefused("unknown_tag", `${formatTag(tag)} is not a known tag.`)
  if (recordClass === "crypto" || recordClass === "payment" || tag === tags.token)
    return normalizePayment(tag, data)
  if (isChainKey(tag)) return normalizeChainKey(tag, data)
  if (tag === tags.registeredPubkey && !/^[0-9a-f]{64}$/.test(data)) {
    return new RecordRefused(
      "invalid_pubkey",
      "A registered pubkey must have 64 hex digits, in lower case and without 0x.",
    )
  }
  if (tag === tags.expiry && !isDateTime(data)) {
    return new RecordRefused(
      "invalid_date",
      "An expiry must be a date and time in UTC, such as 2030-01-31T12:00:00Z.",
    )
  }
  if (tag === tags.redirect && parseWebUrl(data) === undefined) {
    return new RecordRefused("invalid_url", "A redirect must be an http or https URL.")
  }
  if (tag === tags.webUrl && parseWebLink(data) === undefined) {
    return new RecordRefused(
      "invalid_url",
      "A web link must be an http or https URL, optionally with a name before it: name|URL.",
    )
  }
  if (tag === tags.displayModifiers && !isDisplayOf(id, data)) {
    return new RecordRefused(
      "invalid_display_modifiers",
      "Display modifiers must be the emoji id itself, written with skin tones.",
    )
  }
  return data
}

/**
 * Whether Postgres can store the text. It must not contain NUL, which Postgres rejects, or a lone surrogate, which has
 * no UTF-8 encoding.
 */
const isStorableText = (data: string): boolean => !data.includes("\0") && !/\p{Surrogate}/u.test(data)

/**
 * Validates a record and returns it in the form that is stored, with its hash. `id` is the emoji id of the record, if
 * it is known.
 */
export const normalizeRecord = (input: RecordInput, id?: EmojiId): DirectoryRecord | RecordRefused => {
  const tag = parseTag(input.tag)
  if (tag === undefined)
    return new RecordRefused("invalid_tag", "A tag must be 0x and one to four hex digits.")
  if (input.data === "") return new RecordRefused("empty", "The data must not be empty.")
  // The length of the string is checked first, because calculating the UTF-8 length of a very long text is expensive.
  if (input.data.length > maxRecordBytes || Buffer.byteLength(input.data) > maxRecordBytes) {
    return new RecordRefused("too_long", `The data must have at most ${maxRecordBytes} bytes.`)
  }
  if (!isStorableText(input.data))
    return new RecordRefused("invalid_text", "The data must be valid Unicode text without NUL characters.")
  const data = normalizeData(tag, input.data, id)
  if (typeof data !== "string") return data
  return { tag: formatTag(tag), data, hash: recordHash(tag, recordDataBytes(tag, data)) }
}
