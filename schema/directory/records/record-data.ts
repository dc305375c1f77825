import { foldBitcoinAddress, isBitcoinAddress, isPlausibleAddress, parseEthereumAddress } from "../address.ts"
import { type AddressForm, bitcoin, evm } from "../resolve/address-form.ts"
import { findNetwork } from "../resolve/network.ts"
import { nativeTickers, parseTicker } from "../ticker.ts"
import { tags } from "./record-tag.ts"

/** The parsed fields of a payment record. */
export interface PaymentData {
  readonly address: string
  readonly isDefault: boolean
  readonly description?: string
  readonly signature?: string
  readonly shortName?: string
  readonly longName?: string
  readonly settlementNetwork?: string
}

const text = <const Key extends string>(
  key: Key,
  value: string | undefined,
): { readonly [K in Key]?: string } =>
  (value === undefined || value === "" ? {} : { [key]: value }) as { readonly [K in Key]?: string }

/** Parses `address|description|signature|default`. Only the address is required. */
const parseAddressFields = (fields: ReadonlyArray<string>): PaymentData | undefined => {
  const [address, description, signature, isDefault] = fields
  if (fields.length > 4 || address === undefined || !isPlausibleAddress(address)) return undefined
  if (isDefault !== undefined && isDefault !== "" && isDefault !== "t" && isDefault !== "f") return undefined
  return {
    address,
    isDefault: isDefault === "t",
    ...text("description", description),
    ...text("signature", signature),
  }
}

/** Parses the data of a generic crypto record: `TICKER|` and then the fields of a crypto record. */
const parseGenericCrypto = ([ticker = "", ...fields]: ReadonlyArray<string>): PaymentData | undefined => {
  const shortName = parseTicker(ticker)
  const payment = parseAddressFields(fields)
  return shortName === undefined || payment === undefined ? undefined : { ...payment, shortName }
}

/**
 * Parses `short|long|settlement|address|description|signature`. Short name and settlement network together identify a
 * token.
 */
const parseToken = (fields: ReadonlyArray<string>): PaymentData | undefined => {
  const [shortName = "", longName, settlementNetwork = "", address = "", description, signature] = fields
  if (fields.length > 6 || !isPlausibleAddress(address)) return undefined
  if (!isKeyPart(shortName) || !isKeyPart(settlementNetwork)) return undefined
  return {
    address,
    isDefault: false,
    shortName,
    settlementNetwork,
    ...text("longName", longName),
    ...text("description", description),
    ...text("signature", signature),
  }
}

/** Whether the text can be a part of a composite key. A colon is not allowed, because it separates the parts. */
const isKeyPart = (part: string): boolean => part.length > 0 && part.length <= 64 && !part.includes(":")

/** Parses the data of a crypto, payment-address or token record. Undefined if the fields do not match the tag. */
export const parsePaymentData = (tag: number, data: string): PaymentData | undefined => {
  const fields = data.split("|", 8)
  if (tag === tags.token) return parseToken(fields)
  if (tag === tags.genericCrypto) return parseGenericCrypto(fields)
  return parseAddressFields(fields)
}

/**
 * Whether an address is valid for its chain, including its checksum. Only Bitcoin and Ethereum addresses are checked,
 * and only when a record is written.
 */
export const isAddressOf = (tag: number, address: string): boolean => {
  if (tag === tags.bitcoin) return isBitcoinAddress(address)
  if (tag === tags.ethereum) return parseEthereumAddress(address) !== undefined
  return true
}

const tagsOfForms: ReadonlyMap<AddressForm, number> = new Map([
  [evm, tags.ethereum],
  [bitcoin, tags.bitcoin],
])

/**
 * Returns the tag whose address rules apply to a record. For a generic record with a native ticker this is the native
 * tag of the ticker, because payers look up by ticker. For a token on a network with Ethereum or Bitcoin addresses it
 * is the tag of these addresses. For every other record it is its own tag.
 */
export const chainOf = (tag: number, payment: PaymentData | undefined): number => {
  if (tag === tags.genericCrypto) return nativeTickers.get(payment?.shortName ?? "") ?? tag
  if (tag !== tags.token) return tag
  const network = findNetwork(payment?.settlementNetwork ?? "")
  return (network === undefined ? undefined : tagsOfForms.get(network.form)) ?? tag
}

/** Returns the form of an address in which two spellings of the same address are equal. It is used for comparisons. */
export const addressForm = (chain: number, address: string): string => {
  if (chain === tags.bitcoin) return foldBitcoinAddress(address)
  return (chain === tags.ethereum ? parseEthereumAddress(address) : undefined) ?? address
}
