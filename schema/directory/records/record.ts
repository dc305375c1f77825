import { blake2b } from "@noble/hashes/blake2.js"
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import { Schema } from "effect"
import { isHexChainKey } from "../chain-key.ts"
import { parseDisplayModifiers } from "../emoji-display.ts"
import { type EmojiId, parseEmojiId } from "../emoji-id.ts"
import { normalizeData, RecordRefused } from "./record-rules.ts"
import { formatTag, parseTag, tags } from "./record-tag.ts"

export { RecordRefused } from "./record-rules.ts"

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

const isDisplayOf = (id: EmojiId | undefined, data: string): boolean =>
  id === undefined ? parseEmojiId(data)._tag === "EmojiId" : parseDisplayModifiers(id, data) !== undefined

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
  const data = normalizeData(tag, input.data, (text) => isDisplayOf(id, text))
  if (typeof data !== "string") return data
  return { tag: formatTag(tag), data, hash: recordHash(tag, recordDataBytes(tag, data)) }
}
