import { blake2b } from "@noble/hashes/blake2.js"
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import { Schema } from "effect"
import { parseEthereumAddress } from "./address.ts"
import { parseDisplayModifiers } from "./emoji-display.ts"
import { type EmojiId, parseEmojiId } from "./emoji-id.ts"
import { chainOf, isAddressOf, parsePaymentData } from "./record-data.ts"
import { parseWebLink, parseWebUrl } from "./record-link.ts"
import { findRecordClass, formatTag, parseTag, tags } from "./record-tag.ts"

export const maxRecordBytes = 4096

/** What a client sends. */
export const RecordInput = Schema.Struct({ tag: Schema.String, data: Schema.String }).annotate({
  identifier: "RecordInput",
})
export type RecordInput = typeof RecordInput.Type

/** What is kept and answered: the tag in its one spelling, the data as hashed, the hash that names the record. */
export const DirectoryRecord = Schema.Struct({
  tag: Schema.String,
  data: Schema.String,
  hash: Schema.String,
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
    | "invalid_address"
    | "invalid_url"
    | "invalid_display_modifiers"
  readonly message: string

  constructor(code: RecordRefused["code"], message: string) {
    this.code = code
    this.message = message
  }
}

/** Blake2b-256 over the tag, low byte first, and the data bytes. */
export const recordHash = (tag: number, data: Uint8Array): string =>
  bytesToHex(blake2b(concatBytes(Uint8Array.of(tag & 0xff, tag >> 8), data), { dkLen: 32 }))

export interface DisplayRecord {
  readonly data: string
  readonly hash: string
}

/** What a record says that shows an id as it is spelled here; there is none for one that is spelled plainly. */
export const displayRecord = (canonical: string, spelled: string): DisplayRecord | undefined =>
  spelled === canonical
    ? undefined
    : { data: spelled, hash: recordHash(tags.displayModifiers, utf8ToBytes(spelled)) }

/**
 * The bytes that are hashed. A chain key is binary throughout. An Ethereum record is binary in its address only: the
 * description, signature and default flag that may follow are text, so the bytes are the 20 of the address and then, from
 * the first bar on, UTF-8. For a bare address that is plain decoded hex, and since the address is always 20 bytes long no
 * two records share their bytes.
 */
export const recordDataBytes = (tag: number, data: string): Uint8Array => {
  if (tag === tags.chainPubkey) return hexToBytes(data)
  if (tag === tags.ethereum) return concatBytes(hexToBytes(data.slice(0, 40)), utf8ToBytes(data.slice(40)))
  return utf8ToBytes(data)
}

const normalizeHex = (data: string): string | RecordRefused => {
  const hex = data.replace(/^0x/i, "").toLowerCase()
  const isBytes = hex.length > 0 && hex.length % 2 === 0 && /^[0-9a-f]+$/.test(hex)
  return isBytes ? hex : new RecordRefused("invalid_hex", "The data is not whole bytes of hex.")
}

const normalizePayment = (tag: number, data: string): string | RecordRefused => {
  const payment = parsePaymentData(tag, data)
  if (payment === undefined || !isAddressOf(chainOf(tag, payment), payment.address)) {
    return new RecordRefused(
      "invalid_address",
      `The data is no address record of category ${formatTag(tag)}.`,
    )
  }
  if (tag !== tags.ethereum) return data
  const [address = "", ...rest] = data.split("|")
  return [parseEthereumAddress(address), ...rest].join("|")
}

const isDisplayOf = (id: EmojiId | undefined, data: string): boolean =>
  id === undefined ? parseEmojiId(data)._tag === "EmojiId" : parseDisplayModifiers(id, data) !== undefined

/** Text data is kept to the letter, so that a client can compute the hash of what it sends. */
const normalizeData = (tag: number, data: string, id: EmojiId | undefined): string | RecordRefused => {
  const recordClass = findRecordClass(tag)
  if (recordClass === undefined)
    return new RecordRefused("unknown_tag", `No category has the tag ${formatTag(tag)}.`)
  if (recordClass === "crypto" || recordClass === "payment" || tag === tags.token)
    return normalizePayment(tag, data)
  if (tag === tags.chainPubkey) return normalizeHex(data)
  if (tag === tags.redirect && parseWebUrl(data) === undefined) {
    return new RecordRefused("invalid_url", "A redirect is an http or https URL.")
  }
  if (tag === tags.webUrl && parseWebLink(data) === undefined) {
    return new RecordRefused(
      "invalid_url",
      "A web link is an http or https URL, or a name, a bar and such a URL.",
    )
  }
  if (tag === tags.displayModifiers && !isDisplayOf(id, data)) {
    return new RecordRefused(
      "invalid_display_modifiers",
      "Display modifiers spell the id itself in skin tones.",
    )
  }
  return data
}

/** Postgres text holds no NUL, and half a surrogate pair has no UTF-8. */
const isStorableText = (data: string): boolean => !data.includes("\0") && !/\p{Surrogate}/u.test(data)

/** Checks a record and brings it to the form that is stored and hashed. `id` is the id it belongs to, when known. */
export const normalizeRecord = (input: RecordInput, id?: EmojiId): DirectoryRecord | RecordRefused => {
  const tag = parseTag(input.tag)
  if (tag === undefined) return new RecordRefused("invalid_tag", "A tag is 0x and up to four hex digits.")
  if (input.data === "") return new RecordRefused("empty", "A record needs data.")
  // Length in units first: encoding a huge text only to measure it would be the attack itself.
  if (input.data.length > maxRecordBytes || Buffer.byteLength(input.data) > maxRecordBytes) {
    return new RecordRefused("too_long", `A record has at most ${maxRecordBytes} bytes of data.`)
  }
  if (!isStorableText(input.data))
    return new RecordRefused("invalid_text", "The data is not well-formed text.")
  const data = normalizeData(tag, input.data, id)
  if (typeof data !== "string") return data
  return { tag: formatTag(tag), data, hash: recordHash(tag, recordDataBytes(tag, data)) }
}
