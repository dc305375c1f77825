import { Schema } from "effect"
import { checksumEthereumAddress } from "./address.ts"
import { parsePaymentData } from "./record-data.ts"
import { findRecordClass, formatTag, parseTag, tags } from "./record-tag.ts"
import { nativeTickers, parseTicker } from "./ticker.ts"

interface TaggedData {
  readonly tag: string
  readonly data: string
}

const singleValueTags: ReadonlySet<number> = new Set([
  tags.description,
  tags.redirect,
  tags.nickname,
  tags.preferredForm,
])

/**
 * The key of a single-value category: a new record replaces one with the same key. Undefined if several are allowed.
 */
export const findSingleValueKey = ({ data, tag }: TaggedData): string | undefined => {
  const number = parseTag(tag)
  if (number === undefined) return undefined
  if (number === tags.genericCrypto) return `${formatTag(number)}:${genericTicker(data)}`
  if (singleValueTags.has(number) || findRecordClass(number) === "crypto") return formatTag(number)
  return undefined
}

const genericTicker = (data: string): string => data.split("|", 1)[0]!.toUpperCase()

/**
 * Returns the records of a ticker: first those with the ticker's native tag, then generic records with its name. A
 * payer who uses the first one then never pays to a generic record if there is a native one.
 */
export const recordsOfTicker = <R extends TaggedData>(
  records: ReadonlyArray<R>,
  text: string,
): ReadonlyArray<R> => {
  const ticker = parseTicker(text)
  if (ticker === undefined) return []
  const native = nativeTickers.get(ticker)
  const natives: Array<R> = []
  const generic: Array<R> = []
  for (const record of records) {
    const number = parseTag(record.tag)
    if (number === undefined) continue
    if (number === tags.genericCrypto) {
      if (genericTicker(record.data) === ticker) generic.push(record)
    } else if (number === native) natives.push(record)
  }
  return [...natives, ...generic]
}

export const PaymentAddress = Schema.Struct({
  address: Schema.String,
  category: Schema.String,
  default: Schema.Boolean,
  description: Schema.optionalKey(Schema.String),
  long_name: Schema.optionalKey(Schema.String),
  settlement_network: Schema.optionalKey(Schema.String),
  short_name: Schema.optionalKey(Schema.String),
  signature: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "PaymentAddress" })
export type PaymentAddress = typeof PaymentAddress.Type

const readPayment = ({ data, tag }: TaggedData): PaymentAddress | undefined => {
  const number = parseTag(tag)
  if (number === undefined) return undefined
  const recordClass = findRecordClass(number)
  if (recordClass !== "crypto" && recordClass !== "payment" && number !== tags.token) return undefined
  const payment = parsePaymentData(number, data)
  if (payment === undefined) return undefined
  const { description, longName, settlementNetwork, shortName, signature } = payment
  return {
    // Stored addresses have no prefix and no checksum. A payer needs both.
    address: number === tags.ethereum ? checksumEthereumAddress(payment.address) : payment.address,
    category: formatTag(number),
    default: payment.isDefault,
    ...(description !== undefined && { description }),
    ...(longName !== undefined && { long_name: longName }),
    ...(settlementNetwork !== undefined && { settlement_network: settlementNetwork }),
    ...(shortName !== undefined && { short_name: shortName }),
    ...(signature !== undefined && { signature }),
  }
}

/** The result keys of an address: name and network for a token; the category and each ticker for generic crypto. */
const keysOf = ({ category, settlement_network, short_name }: PaymentAddress): ReadonlyArray<string> => {
  if (settlement_network !== undefined) return [`${category}:${short_name}:${settlement_network}`]
  return short_name === undefined ? [category] : [category, `${category}:${short_name}`]
}

/** Selects one address per category: the newest default, otherwise the newest. `records` are ordered oldest first. */
export const paymentAddresses = (
  records: ReadonlyArray<TaggedData>,
): Readonly<Record<string, PaymentAddress>> => {
  const chosen = new Map<string, PaymentAddress>()
  for (const record of records) {
    const payment = readPayment(record)
    if (payment === undefined) continue
    for (const key of keysOf(payment)) {
      if (payment.default || chosen.get(key)?.default !== true) chosen.set(key, payment)
    }
  }
  return Object.fromEntries(chosen)
}
