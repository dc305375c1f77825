import { type DirectoryRecord, normalizeRecord, RecordRefused } from "./record.ts"
import { findRecordClass, formatTag, parseHexOrDecimalTag, parseTag, tags } from "./record-tag.ts"

/** The error for addresses in a partner's request that are not valid. The message says what is wrong. */
export class AddressesRefused {
  readonly _tag = "AddressesRefused"
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

const maxAddresses = 50
const tooMany = new AddressesRefused(`Send at most ${maxAddresses} addresses.`)
const paymentClasses: ReadonlySet<string | undefined> = new Set(["crypto", "payment", "token"])
/** Public keys of chains on which wallets send to a key: 0x0101 and 0x0103 in hex, 0x0104 in base58. */
const chainKeyTags: ReadonlySet<number> = new Set([tags.chainPubkey, 0x0103, 0x0104])
const isAddressTag = (tag: number): boolean =>
  paymentClasses.has(findRecordClass(tag)) || chainKeyTags.has(tag)

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

const collect = <A>(
  items: ReadonlyArray<A>,
  read: (item: A) => DirectoryRecord | AddressesRefused,
): ReadonlyArray<DirectoryRecord> | AddressesRefused => {
  if (items.length > maxAddresses) return tooMany
  const records = new Map<string, DirectoryRecord>()
  for (const item of items) {
    const record = read(item)
    if (record instanceof AddressesRefused) return record
    records.set(record.hash, record)
  }
  return [...records.values()]
}

/** Shortens a text of the partner for an error message. */
const shorten = (text: string): string => (text.length <= 100 ? text : `${text.slice(0, 100)}…`)

/**
 * Parses a text such as `TAG=ADDRESS|TAG=ADDRESS`, with hex tags, and returns one record per address. Empty parts, as
 * after a trailing pipe, are skipped.
 */
export const parseAddressPairs = (text: string): ReadonlyArray<DirectoryRecord> | AddressesRefused => {
  const pairs = text.split("|").filter((pair) => pair !== "")
  return collect(pairs, (pair) => {
    const equals = pair.indexOf("=")
    if (equals < 1) {
      const hint = /%3d|%7c/i.test(pair) ? " The list is percent-encoded twice. Encode it once." : ""
      return new AddressesRefused(`"${shorten(pair)}" does not have the form TAG=ADDRESS.${hint}`)
    }
    const tag = pair.slice(0, equals)
    return toRecord(parseTag(tag), shorten(tag), pair.slice(equals + 1))
  })
}

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
 * address. The wallet name becomes the description of the record.
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
    // A record of a key has no field for the wallet name.
    const address = number !== undefined && chainKeyTags.has(number) ? data.split("|", 1)[0]! : data
    return toRecord(number, shorten(tag), address)
  })
}
