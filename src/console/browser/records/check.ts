import { normalizeData, type RecordRefused } from "../../../../schema/directory/records/record-rules.ts"
import { parseTag } from "../../../../schema/directory/records/record-tag.ts"
import { findAsset } from "../../../../schema/directory/resolve/asset.ts"
import { readDestination } from "../../../../schema/directory/resolve/candidate.ts"
import { findNetwork, type Network } from "../../../../schema/directory/resolve/network.ts"
import { parseTicker } from "../../../../schema/directory/ticker.ts"
import { type Content, writeContent } from "./content.ts"
import { type Kind, networkName } from "./kinds.ts"

/** The fields of a form by which a problem is shown. */
type FieldName = keyof Content

export interface Found {
  readonly field: FieldName
  readonly text: string
}

const skinTones = /[\u{1F3FB}-\u{1F3FF}\uFE0F]/gu

/** Whether the text is the id, written with skin tones. */
const isSpelling = (id: string) => (text: string) => text.replace(skinTones, "") === id.replace(skinTones, "")

const examples: Readonly<Record<string, string>> = {
  BTC: "A Bitcoin address starts with bc1, 1 or 3. Copy it from your wallet again.",
  ETH: "An Ethereum address starts with 0x and has 40 more digits and letters from a to f. Copy it from your wallet again.",
}

const refusedAddress = ({ form, name, ticker }: Kind): string => {
  const what = form === "address" && ticker !== undefined ? `a valid ${name} address` : "a valid address"
  return `This is not ${what}. ${examples[ticker ?? ""] ?? "An address has at least 3 letters, digits or signs, without spaces and without the sign |."}`
}

const refusals: Readonly<Partial<Record<RecordRefused["code"], string>>> = {
  invalid_hex: "A key in hex consists of an even number of digits and letters from a to f.",
  invalid_base58:
    "This is not a key in base58. Such a key has no zero, no capital O, no capital I and no small l.",
  invalid_url:
    "Enter the complete address of the page. It starts with https:// or http:// and has no spaces.",
  invalid_display_modifiers: "Enter the emoji of this id in the same order. Only skin tones may be added.",
}

const barred = (content: Content): Found | undefined => {
  const names = ["ticker", "longName", "network", "linkName", "description"] as const
  const field = names.find((name) => content[name]?.includes("|"))
  return field && { field, text: "The sign | cannot be used here." }
}

const missing = (kind: Kind, content: Content): Found | undefined => {
  if (content.value === "") return { field: "value", text: "Fill in this field." }
  if (kind.form === "otherCoin" && parseTicker(content.ticker ?? "") === undefined)
    return {
      field: "ticker",
      text: "Enter the ticker of the coin, such as KAS: at most 16 letters and digits.",
    }
  if (kind.form === "token" && !content.ticker)
    return { field: "ticker", text: "Enter the short name of the token, such as USDC." }
  if (kind.form === "token" && !content.network)
    return { field: "network", text: "Enter the network of the token, such as ethereum." }
  return undefined
}

const usesBars = (kind: Kind): boolean => ["address", "otherCoin", "token", "link"].includes(kind.form)

/**
 * Checks the fields with the rules of the service, before anything is sent. Returns the first problem in plain words,
 * or undefined if the service would accept the record.
 */
export const findProblem = (id: string, kind: Kind, content: Content): Found | undefined => {
  const known = missing(kind, content) ?? (usesBars(kind) ? barred(content) : undefined)
  if (known !== undefined) return known
  if (new TextEncoder().encode(writeContent(kind.form, content)).length > 4096)
    return { field: "value", text: "This is too long. A record has at most 4096 bytes." }
  const tag = parseTag(kind.tag)
  if (tag === undefined) return undefined
  const stored = normalizeData(tag, writeContent(kind.form, content), isSpelling(id))
  if (typeof stored === "string") return undefined
  const isAddress = stored.code === "invalid_address"
  return {
    field: "value",
    text: isAddress ? refusedAddress(kind) : (refusals[stored.code] ?? stored.message),
  }
}

const networksOf = (kind: Kind, { network, ticker }: Content): ReadonlyArray<Network> => {
  if (network) {
    const found = findNetwork(network)
    return found === undefined ? [] : [found]
  }
  return findAsset((kind.ticker ?? ticker ?? "").toUpperCase())?.networks ?? []
}

/**
 * Returns a warning for an address that the service accepts, but that no known network of the coin uses. Wallets that
 * ask for the address on a network do not get it.
 */
export const findDoubt = (kind: Kind, content: Content): string | undefined => {
  if (!["address", "otherCoin", "token"].includes(kind.form)) return undefined
  const networks = networksOf(kind, content)
  if (networks.length === 0 || networks.some((one) => readDestination(one, content.value) !== undefined))
    return undefined
  const names = networks.slice(0, 3).map(networkName).join(", ")
  return `This does not look like an address of ${names}. Wallets may ignore it, and a payment to a wrong address is lost.`
}
