import { Schema } from "effect"
import { checksumEthereumAddress, parseEthereumAddress } from "../address.ts"
import { isChainKey, parseChainKey } from "../chain-key.ts"
import { nativeTickers, parseTicker } from "../ticker.ts"
import { chainOf, parsePaymentData } from "./record-data.ts"
import { findRecordClass, formatTag, parseTag, tags } from "./record-tag.ts"
import { genericTicker, type TaggedData } from "./single-value.ts"

export { findSingleValueKey } from "./single-value.ts"

/**
 * Returns the records of a ticker: first those with the native tag of the ticker, then generic records with its name. A
 * payer who uses the first record therefore uses a generic record only if there is no native one.
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
  address: Schema.String.annotate({ description: "The address as a wallet pastes it." }),
  category: Schema.String.annotate({ description: "The tag of the record, for example `0x1003`." }),
  default: Schema.Boolean.annotate({ description: "Whether the owner marked the record as the default." }),
  description: Schema.optionalKey(Schema.String),
  long_name: Schema.optionalKey(Schema.String),
  settlement_network: Schema.optionalKey(Schema.String),
  short_name: Schema.optionalKey(Schema.String),
  signature: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "PaymentAddress" })
export type PaymentAddress = typeof PaymentAddress.Type

/**
 * Reads a chain public key, which some wallets use as an address. A value that was stored before its form was checked
 * is omitted if it is not a key.
 */
const readChainKey = (tag: number, data: string): PaymentAddress | undefined => {
  const address = parseChainKey(tag, data)
  return address === undefined ? undefined : { address, category: formatTag(tag), default: false }
}

/** Returns an Ethereum address with its prefix and checksum, which a payer needs, and any other address unchanged. */
const toPaste = (chain: number, address: string): string => {
  const hex = chain === tags.ethereum ? parseEthereumAddress(address) : undefined
  return hex === undefined ? address : checksumEthereumAddress(hex)
}

const readPayment = ({ data, tag }: TaggedData): PaymentAddress | undefined => {
  const number = parseTag(tag)
  if (number === undefined) return undefined
  if (isChainKey(number)) return readChainKey(number, data)
  const recordClass = findRecordClass(number)
  if (recordClass !== "crypto" && recordClass !== "payment" && number !== tags.token) return undefined
  const payment = parsePaymentData(number, data)
  if (payment === undefined) return undefined
  const { description, longName, settlementNetwork, shortName, signature } = payment
  return {
    address: toPaste(chainOf(number, payment), payment.address),
    category: formatTag(number),
    default: payment.isDefault,
    ...(description !== undefined && { description }),
    ...(longName !== undefined && { long_name: longName }),
    ...(settlementNetwork !== undefined && { settlement_network: settlementNetwork }),
    ...(shortName !== undefined && { short_name: shortName }),
    ...(signature !== undefined && { signature }),
  }
}

/**
 * Returns the keys under which an address is returned. A token has one key, made of its category, name and network. A
 * generic crypto address has two keys: its category, and its category with its ticker. Every other address has its
 * category as key.
 */
const keysOf = ({ category, settlement_network, short_name }: PaymentAddress): ReadonlyArray<string> => {
  if (settlement_network !== undefined) return [`${category}:${short_name}:${settlement_network}`]
  return short_name === undefined ? [category] : [category, `${category}:${short_name}`]
}

/**
 * Returns one address per key: the newest default address, or the newest address if none is a default. `records` must
 * be ordered oldest first.
 */
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
