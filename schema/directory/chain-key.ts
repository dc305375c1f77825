import { base58Decode } from "./address.ts"
import { tags } from "./records/record-tag.ts"

/** How each chain public key is written. Some wallets use these keys as addresses. */
const encodings: ReadonlyMap<number, "hex" | "base58"> = new Map([
  [tags.chainPubkey, "hex"],
  [tags.hexPubkey, "hex"],
  [tags.base58Pubkey, "base58"],
])
const maxBase58Units = 128

export const isChainKey = (tag: number): boolean => encodings.has(tag)
export const isHexChainKey = (tag: number): boolean => encodings.get(tag) === "hex"

/**
 * Returns a chain public key in the form that is stored: hex in lower case without 0x, or base58 as it was sent.
 * Undefined if the text is not a key of this tag.
 */
export const parseChainKey = (tag: number, text: string): string | undefined => {
  if (isHexChainKey(tag)) {
    const hex = text.replace(/^0x/i, "").toLowerCase()
    return /^(?:[0-9a-f]{2})+$/.test(hex) ? hex : undefined
  }
  const isBase58 = text !== "" && text.length <= maxBase58Units && base58Decode(text) !== undefined
  return isBase58 ? text : undefined
}
