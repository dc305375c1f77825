import { isChainKey } from "./chain-key.ts"
import { type DirectoryRecord, normalizeRecord, RecordRefused } from "./records/record.ts"
import { findSingleValueKey } from "./records/record-selection.ts"
import { findRecordClass, formatTag, parseHexOrDecimalTag, parseTag, tags } from "./records/record-tag.ts"

/** The error for addresses in a partner's request that are not valid. The message says what is wrong. */
export class AddressesRefused {
  readonly _tag = "AddressesRefused"
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

// Some wallets send every address that they have used, although only the last one of a category is written. The size of
// the request limits their number first: its head has at most 16 KiB.
const maxItems = 500
const maxAddresses = 50
const tooMany = new AddressesRefused(`Send at most ${maxAddresses} addresses.`)
const paymentClasses: ReadonlySet<string | undefined> = new Set(["crypto", "payment", "token"])
const isAddressTag = (tag: number): boolean => paymentClasses.has(findRecordClass(tag)) || isChainKey(tag)

const toRecord = (
  tag: number | undefined,
  shown: string,
  data: string,
): DirectoryRecord | AddressesRefused => {
  if (tag === undefined)
    return new AddressesRefused(`"${shown}" is not a valid tag. Use a tag such as 0x1003.`)
  if (!isAddressTag(tag)) {
    return new AddressesRefused(`Tag ${formatTag(tag)} is not a tag for addresses.`)
  }
  const record = normalizeRecord({ tag: formatTag(tag), data })
  return record instanceof RecordRefused
    ? new AddressesRefused(`The address for tag ${formatTag(tag)} is not valid. ${record.message}`)
    : record
}

/** Reads the items. Of several addresses of a category that has one value, the last one is kept. */
const collect = <A>(
  items: ReadonlyArray<A>,
  read: (item: A) => DirectoryRecord | AddressesRefused,
): ReadonlyArray<DirectoryRecord> | AddressesRefused => {
  if (items.length > maxItems) return tooMany
  const records = new Map<string, DirectoryRecord>()
  for (const item of items) {
    const record = read(item)
    if (record instanceof AddressesRefused) return record
    records.set(findSingleValueKey(record) ?? record.hash, record)
  }
  return records.size > maxAddresses ? tooMany : [...records.values()]
}

/**
 * Splits a text such as `TAG=ADDRESS|TAG=ADDRESS`. The data of a generic crypto record contains a vertical bar itself:
 * `0x3fff=TICKER|ADDRESS`. So a part that has no tag belongs to the generic record before it. Empty parts, as after a
 * trailing bar, are skipped.
 */
const splitPairs = (text: string): ReadonlyArray<string> => {
  const pairs: Array<string> = []
  for (const part of text.split("|").filter((part) => part !== "")) {
    const last = pairs.at(-1)
    const isContinued = last !== undefined && parseTag(last.split("=", 1)[0]!) === tags.genericCrypto
    if (isContinued && !last.includes("|") && !/^0x[0-9a-f]{1,4}=/i.test(part))
      pairs[pairs.length - 1] = `${last}|${part}`
    else pairs.push(part)
  }
  return pairs
}

/** Shortens a text of the partner for an error message. */
const shorten = (text: string): string => (text.length <= 100 ? text : `${text.slice(0, 100)}…`)

/** Parses a text such as `TAG=ADDRESS|TAG=ADDRESS`, with hex tags, and returns one record per address. */
export const parseAddressPairs = (text: string): ReadonlyArray<DirectoryRecord> | AddressesRefused =>
  collect(splitPairs(text), (pair) => {
    const equals = pair.indexOf("=")
    if (equals < 1) {
      const hint = /%3d|%7c/i.test(pair) ? " The list is percent-encoded twice. Encode it once." : ""
      return new AddressesRefused(`"${shorten(pair)}" does not have the form TAG=ADDRESS.${hint}`)
    }
    const tag = pair.slice(0, equals)
    return toRecord(parseTag(tag), shorten(tag), pair.slice(equals + 1))
  })

const readBase64Json = (text: string): unknown => {
  // A plus sign that the client did not percent-encode was decoded as a space, so spaces are converted to plus signs.
  const base64 = text.replaceAll(" ", "+")
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(base64)) return undefined
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64")))
  } catch {
    return undefined
  }
}

/**
 * Parses Base64 of the JSON `[{"TAG": "ADDRESS|WALLET_NAME"}, …]`, with hex or decimal tags. Returns one record per
 * address. The wallet name becomes the description of the record. A chain public key has no description, so its wallet
 * name is ignored.
 */
export const parseAddressJson = (text: string): ReadonlyArray<DirectoryRecord> | AddressesRefused => {
  const list = text === "" ? [] : readBase64Json(text)
  if (!Array.isArray(list)) return new AddressesRefused("The value is not a Base64-encoded JSON array.")
  return collect<unknown>(list, (item) => {
    const members = typeof item === "object" && item !== null ? Object.entries(item) : []
    const [tag, data] = members[0] ?? []
    if (members.length !== 1 || tag === undefined || typeof data !== "string") {
      return new AddressesRefused("Each item must be an object with one member: a tag and its address.")
    }
    const number = parseHexOrDecimalTag(tag)
    const isKey = number !== undefined && isChainKey(number)
    return toRecord(number, shorten(tag), isKey ? data.split("|", 1)[0]! : data)
  })
}
