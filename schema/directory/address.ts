import { sha256 } from "@noble/hashes/sha2.js"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

/** Decodes base58 without a checksum. Undefined if the text has a character that is not in the alphabet. */
export const base58Decode = (text: string): Uint8Array | undefined => {
  let value = 0n
  for (const character of text) {
    const digit = base58Alphabet.indexOf(character)
    if (digit < 0) return undefined
    value = value * 58n + BigInt(digit)
  }
  const leadingZeros = text.length - text.replace(/^1+/, "").length
  const bytes: Array<number> = []
  for (; value > 0n; value >>= 8n) bytes.push(Number(value & 0xffn))
  return Uint8Array.from([...Array<number>(leadingZeros).fill(0), ...bytes.reverse()])
}

const checksumBytes = 4
/** The longest base58check address that is accepted: an XRP address that contains a destination tag. */
const maxBase58CheckUnits = 48

/**
 * Whether the text is base58check: one of the given version prefixes, then `payloadBytes` bytes, then the first four
 * bytes of the double SHA-256 of both.
 */
export const isBase58Check = (
  text: string,
  versions: ReadonlyArray<ReadonlyArray<number>>,
  payloadBytes = 20,
): boolean => {
  if (text.length > maxBase58CheckUnits) return false
  const bytes = base58Decode(text)
  if (bytes === undefined) return false
  const isVersion = (version: ReadonlyArray<number>) =>
    bytes.length === version.length + payloadBytes + checksumBytes &&
    version.every((byte, place) => byte === bytes[place])
  if (!versions.some(isVersion)) return false
  const checksum = sha256(sha256(bytes.subarray(0, -checksumBytes)))
  return bytes.subarray(-checksumBytes).every((byte, place) => byte === checksum[place])
}

const payToPubkeyHash = [0x00]
const payToScriptHash = [0x05]
export const bitcoinVersions = [payToPubkeyHash, payToScriptHash]

const bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
const bech32Generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const bech32Constant = 1
const bech32mConstant = 0x2bc830a3

/**
 * Expands the prefix of an address as the bech32 checksum requires: the high bits of each character, a zero, the low
 * bits of each character.
 */
const expandPrefix = (prefix: string): ReadonlyArray<number> => {
  const codes = Array.from(prefix, (character) => character.charCodeAt(0))
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
}

const polymod = (values: ReadonlyArray<number>): number => {
  let checksum = 1
  for (const value of values) {
    const top = checksum >>> 25
    checksum = ((checksum & 0x1ffffff) << 5) ^ value
    bech32Generators.forEach((generator, bit) => {
      if ((top >>> bit) & 1) checksum ^= generator
    })
  }
  return checksum >>> 0
}

/** Decodes bech32 or bech32m with this prefix. Undefined if the text or its checksum is not valid. */
const bech32Decode = (text: string, prefix: string) => {
  const lower = text.toLowerCase()
  if (text !== lower && text !== text.toUpperCase()) return undefined
  if (!lower.startsWith(`${prefix}1`)) return undefined
  const values = [...lower.slice(prefix.length + 1)].map((character) => bech32Alphabet.indexOf(character))
  if (values.includes(-1) || values.length < 8) return undefined
  const checksum = polymod([...expandPrefix(prefix), ...values])
  if (checksum !== bech32Constant && checksum !== bech32mConstant) return undefined
  return { values: values.slice(0, -6), isBech32m: checksum === bech32mConstant }
}

export const isBech32 = (text: string, prefix: string): boolean => bech32Decode(text, prefix) !== undefined

/** Whether the text is a segwit address with this prefix, as BIP 173 and BIP 350 define it. */
export const isSegwit = (text: string, prefix: string): boolean => {
  const decoded = text.length > 90 ? undefined : bech32Decode(text, prefix)
  if (decoded === undefined) return false
  const version = decoded.values[0]!
  if (decoded.isBech32m !== version > 0) return false
  const program = decoded.values.slice(1)
  const bytes = Math.floor((program.length * 5) / 8)
  const paddingBits = (program.length * 5) % 8
  if (paddingBits > 4 || (program.at(-1)! & ((1 << paddingBits) - 1)) !== 0) return false
  if (version === 0) return bytes === 20 || bytes === 32
  return version <= 16 && bytes >= 2 && bytes <= 40
}

/**
 * Whether the text is a Bitcoin mainnet address with a valid checksum. Testnet addresses are rejected, because testnet
 * coins have no value.
 */
export const isBitcoinAddress = (text: string): boolean =>
  isSegwit(text, "bc") || isBase58Check(text, bitcoinVersions)

/**
 * Returns a segwit address in lower case, and any other text unchanged. Both cases mean the same segwit address, and QR
 * codes use upper case.
 */
export const foldBitcoinAddress = (text: string): string => (isSegwit(text, "bc") ? text.toLowerCase() : text)

/** Returns an Ethereum address in EIP-55 form: with 0x, and with letters whose case is a checksum of the address. */
export const checksumEthereumAddress = (lowerHex: string): string => {
  const hash = bytesToHex(keccak_256(utf8ToBytes(lowerHex)))
  const cased = [...lowerHex].map((digit, place) => (hash[place]! >= "8" ? digit.toUpperCase() : digit))
  return `0x${cased.join("")}`
}

/**
 * Parses an Ethereum address and returns its 20 bytes as lower-case hex without 0x. Undefined if the address is
 * malformed, or if it has mixed case and a wrong checksum.
 */
export const parseEthereumAddress = (text: string): string | undefined => {
  const hex = /^(?:0x)?([0-9a-f]{40})$/i.exec(text)?.[1]
  if (hex === undefined) return undefined
  const lower = hex.toLowerCase()
  if (hex === lower || hex === hex.toUpperCase()) return lower
  return checksumEthereumAddress(lower) === `0x${hex}` ? lower : undefined
}

/**
 * Whether the text has the form of an address: 3 to 256 visible ASCII characters without a vertical bar. For chains
 * other than Bitcoin and Ethereum this is the only check.
 */
export const isPlausibleAddress = (text: string): boolean => /^[!-{}~]{3,256}$/.test(text)
