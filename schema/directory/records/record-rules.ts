import { parseEthereumAddress } from "../address.ts"
import { isChainKey, isHexChainKey, parseChainKey } from "../chain-key.ts"
import { chainOf, isAddressOf, parsePaymentData } from "./record-data.ts"
import { parseWebLink, parseWebUrl } from "./record-link.ts"
import { findRecordClass, formatTag, tags } from "./record-tag.ts"

/**
 * The rules for the data of a record. The console checks a form with the same rules before it sends a record, so this
 * file imports nothing that a browser cannot load quickly.
 */

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

/**
 * Validates the data of a record and returns the form that is stored. `isDisplay` says whether a text is the emoji id
 * of the record, written with skin tones. Only Ethereum addresses and chain keys are
 * converted. All other data is stored unchanged, so that a client can compute the hash of the data that it sends.
 */
export const normalizeData = (
  tag: number,
  data: string,
  isDisplay: (text: string) => boolean,
): string | RecordRefused => {
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
  if (tag === tags.displayModifiers && !isDisplay(data)) {
    return new RecordRefused(
      "invalid_display_modifiers",
      "Display modifiers must be the emoji id itself, written with skin tones.",
    )
  }
  return data
}
