import { foldBitcoinAddress, isBitcoinAddress, isPlausibleAddress, parseEthereumAddress } from "./address.ts"
import { tags } from "./record-tag.ts"
import { nativeTickers, parseTicker } from "./ticker.ts"

/** What a payment record says, read from its fields. */
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

/** `address|description|signature|default`, of which only the address is needed. */
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

/** `TICKER|` and then as every crypto record. */
const parseGenericCrypto = ([ticker = "", ...fields]: ReadonlyArray<string>): PaymentData | undefined => {
  const shortName = parseTicker(ticker)
  const payment = parseAddressFields(fields)
  return shortName === undefined || payment === undefined ? undefined : { ...payment, shortName }
}

/** `short|long|settlement|address|description|signature`; short and settlement name the composite key. */
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

/** A colon would make two different composite keys read alike. */
const isKeyPart = (part: string): boolean => part.length > 0 && part.length <= 64 && !part.includes(":")

/** Reads a crypto, payment-address or token record; undefined when its fields do not fit its tag. */
export const parsePaymentData = (tag: number, data: string): PaymentData | undefined => {
  const fields = data.split("|", 8)
  if (tag === tags.token) return parseToken(fields)
  if (tag === tags.genericCrypto) return parseGenericCrypto(fields)
  return parseAddressFields(fields)
}

/** Whether an address stands up to its chain's checksum. Asked when a record is written; reading trusts what is stored. */
export const isAddressOf = (tag: number, address: string): boolean => {
  if (tag === tags.bitcoin) return isBitcoinAddress(address)
  if (tag === tags.ethereum) return parseEthereumAddress(address) !== undefined
  return true
}

/** A ticker that has a tag of its own has its chain's rules under the generic one too: payers ask by ticker. */
export const chainOf = (tag: number, payment: PaymentData | undefined): number =>
  tag === tags.genericCrypto ? (nativeTickers.get(payment?.shortName ?? "") ?? tag) : tag

/** The one spelling of an address, for comparing it with another. */
export const addressForm = (chain: number, address: string): string => {
  if (chain === tags.bitcoin) return foldBitcoinAddress(address)
  return (chain === tags.ethereum ? parseEthereumAddress(address) : undefined) ?? address
}
