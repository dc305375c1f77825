import { describe, expect, it } from "vitest"
import {
  checksumEthereumAddress,
  isBitcoinAddress,
  isPlausibleAddress,
  parseEthereumAddress,
} from "../../../schema/directory/address.ts"

describe("a Bitcoin address", () => {
  it.each([
    ["pays to a pubkey hash", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"],
    ["pays to a script hash", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"],
    ["is segwit version 0 in upper case", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"],
    ["is segwit version 0 of 32 bytes", "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3"],
    ["is taproot", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"],
    ["has a later segwit version", "BC1SW50QGDZ25J"],
  ])("is accepted if it %s", (_, address) => {
    expect(isBitcoinAddress(address)).toBe(true)
  })

  it.each([
    ["a wrong character in base58", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"],
    ["a character outside the base58 alphabet", "1A1zP1eP5QGefi2DMPTfTL5SLmv7Divf0a"],
    ["a wrong character in bech32", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"],
    ["mixed case in bech32", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T4"],
    [
      "segwit version 1 with the older checksum",
      "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",
    ],
    ["segwit version 0 with the newer checksum", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh"],
    ["an empty segwit program", "bc1gmk9yu"],
    ["a testnet script hash", "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc"],
    ["a testnet pubkey hash", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"],
    ["a testnet segwit address", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"],
    ["an empty text", ""],
  ])("is rejected: %s", (_, address) => {
    expect(isBitcoinAddress(address)).toBe(false)
  })
})

describe("an Ethereum address", () => {
  const checksummed = [
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
  ]

  it.each(checksummed)(
    "such as %s is parsed to lower-case hex and formatted with its checksum",
    (address) => {
      const lower = address.slice(2).toLowerCase()
      expect(parseEthereumAddress(address)).toBe(lower)
      expect(parseEthereumAddress(lower)).toBe(lower)
      expect(parseEthereumAddress(`0X${lower.toUpperCase()}`)).toBe(lower)
      expect(checksumEthereumAddress(lower)).toBe(address)
    },
  )

  it("is rejected if it has mixed case and a wrong checksum", () => {
    expect(parseEthereumAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed")).toBeUndefined()
  })

  it("is rejected if it is not 20 bytes of hex", () => {
    expect(parseEthereumAddress("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae")).toBeUndefined()
    expect(parseEthereumAddress("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaedff")).toBeUndefined()
    expect(parseEthereumAddress("0xgaaeb6053f3e94c9b9a09f33669435e7ef1beaed")).toBeUndefined()
  })
})

describe("any other address", () => {
  it("must have 3 to 256 visible ASCII characters and no vertical bar", () => {
    expect(isPlausibleAddress("rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh")).toBe(true)
    expect(
      ["ab", "a b c", "abc|def", "abc\n", "ünïcode", "a".repeat(257)].filter(isPlausibleAddress),
    ).toEqual([])
  })
})
