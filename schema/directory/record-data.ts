import { foldBitcoinAddress, isBitcoinAddress, isPlausibleAddress, parseEthereumAddress } from "./address.ts"
import { tags } from "./record-tag.ts"
import { nativeTickers, parseTicker } from "./ticker.ts"

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

/** Parses `TICKER|` followed by the fields of a crypto record. */
const parseGenericCrypto = ([ticker = "", ...fields]: ReadonlyArray<string>): PaymentData | undefined => {
  const shortName = parseTicker(ticker)
  const payment = parseAddressFields(fields)
  return shortName === undefined || payment === undefined ? undefined : { ...payment, shortName }
}

/** Parses `short|long|settlement|address|description|signature`. Short name and settlement are the composite key. */
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

/** A colon is not allowed, because it separates the parts of a composite key. */
const isKeyPart = (part: string): boolean => part.length > 0 && part.length <= 64 && !part.includes(":")

/** Parses a crypto, payment-address or token record; undefined if its fields do not match its tag. */
export const parsePaymentData = (tag: number, data: string): PaymentData | undefined => {
  const fields = data.split("|", 8)
  if (tag === tags.token) return parseToken(fields)
  if (tag === tags.genericCrypto) return parseGenericCrypto(fields)
  return parseAddressFields(fields)
}

/** Whether the checksum of an address is valid for its chain. Checked only when a record is written. */
export const isAddressOf = (tag: number, address: string): boolean => {
  if (tag === tags.bitcoin) return isBitcoinAddress(address)
  if (tag === tags.ethereum) return parseEthereumAddress(address) !== undefined
  return true
}

/**
 * The tag whose address rules apply. A generic record of a native ticker follows the rules of that chain, because
 * payers look up by ticker.
 */
export const chainOf = (tag: number, payment: PaymentData | undefined): number =>
  tag === tags.genericCrypto ? (nativeTickers.get(payment?.shortName ?? "") ?? tag) : tag

/** The normal form of an address, for comparisons. */
export const addressForm = (chain: number, address: string): string => {
  if (chain === tags.bitcoin) return foldBitcoinAddress(address)
  return (chain === tags.ethereum ? parseEthereumAddress(address) : undefined) ?? address
}
