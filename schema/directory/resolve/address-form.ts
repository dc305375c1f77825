import { blake2b } from "@noble/hashes/blake2.js"
import { sha512_256 } from "@noble/hashes/sha2.js"
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import {
  base58Decode,
  bitcoinVersions,
  checksumEthereumAddress,
  foldBitcoinAddress,
  isBase58Check,
  isBech32,
  isBitcoinAddress,
  isSegwit,
  parseEthereumAddress,
} from "../address.ts"

/**
 * Reads an address of one network. Returns it in the form that users paste into a wallet, or undefined if the text is
 * not an address of the network.
 */
export type AddressForm = (text: string) => string | undefined

const when =
  (isAddress: (text: string) => boolean): AddressForm =>
  (text) =>
    isAddress(text) ? text : undefined

export const matching = (pattern: RegExp): AddressForm => when((text) => pattern.test(text))

export const evm: AddressForm = (text) => {
  const hex = parseEthereumAddress(text)
  return hex === undefined ? undefined : checksumEthereumAddress(hex)
}

export const bitcoin: AddressForm = (text) => (isBitcoinAddress(text) ? foldBitcoinAddress(text) : undefined)

/** Base58check with these version bytes, or segwit with this prefix. */
export const bitcoinLike = (versions: ReadonlyArray<ReadonlyArray<number>>, segwit?: string): AddressForm =>
  when((text) => isBase58Check(text, versions) || (segwit !== undefined && isSegwit(text, segwit)))

export const bitcoinCash = when(
  (text) => /^(?:bitcoincash:)?[qp][02-9ac-hj-np-z]{41}$/.test(text) || isBase58Check(text, bitcoinVersions),
)

export const bech32 = (prefix: string): AddressForm =>
  when((text) => text === text.toLowerCase() && isBech32(text, prefix))

export const either =
  (...forms: ReadonlyArray<AddressForm>): AddressForm =>
  (text) => {
    for (const form of forms) {
      const address = form(text)
      if (address !== undefined) return address
    }
    return undefined
  }

/** A public key of 32 bytes in base58. It has no checksum. */
export const solana = when((text) => text.length <= 44 && base58Decode(text)?.length === 32)

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const rippleAlphabet = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
const accountVersion = [0x00]
const taggedVersion = [0x05, 0x44]

/** An account of the XRP Ledger, or an X-address, which contains the destination tag. */
export const ripple = when((text) => {
  const usual = [...text]
    .map((character) => base58Alphabet[rippleAlphabet.indexOf(character)] ?? "0")
    .join("")
  return isBase58Check(usual, [accountVersion]) || isBase58Check(usual, [taggedVersion], 29)
})

const base32Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

const base32Decode = (text: string): Uint8Array => {
  const bytes: Array<number> = []
  let bits = 0
  let value = 0
  for (const character of text) {
    value = ((value << 5) | base32Alphabet.indexOf(character)) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push((value >> bits) & 0xff)
    }
  }
  return Uint8Array.from(bytes)
}

/** The checksum CRC-16/XMODEM. */
const crc16 = (bytes: Uint8Array): number => {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc
}

/** An account (G…), or a multiplexed account (M…), which contains an id. */
export const stellar = when((text) => {
  if (!/^(?:G[A-Z2-7]{55}|M[A-Z2-7]{68})$/.test(text)) return false
  const bytes = base32Decode(text)
  return crc16(bytes.subarray(0, -2)) === bytes.at(-2)! + 256 * bytes.at(-1)!
})

export const algorand = when((text) => {
  if (!/^[A-Z2-7]{58}$/.test(text)) return false
  const bytes = base32Decode(text)
  const checksum = sha512_256(bytes.subarray(0, 32)).subarray(-4)
  return bytes.subarray(32, 36).every((byte, place) => byte === checksum[place])
})

/** A user-friendly address of the main network in base64url, or a raw address. */
export const ton = when((text) => {
  if (/^0:[0-9a-f]{64}$/i.test(text)) return true
  if (!/^[EU]Q[A-Za-z0-9_-]{46}$/.test(text)) return false
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"))
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
  return crc16(bytes.subarray(0, 34)) === 256 * bytes[34]! + bytes[35]!
})

/** An SS58 address of 32 bytes with this network prefix. */
export const ss58 = (prefix: number): AddressForm =>
  when((text) => {
    const bytes = text.length > 50 ? undefined : base58Decode(text)
    if (bytes?.length !== 35 || bytes[0] !== prefix) return false
    const checksum = blake2b(concatBytes(utf8ToBytes("SS58PRE"), bytes.subarray(0, 33)))
    return bytes[33] === checksum[0] && bytes[34] === checksum[1]
  })
