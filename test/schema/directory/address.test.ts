import { describe, expect, it } from "vitest"
import {
  checksumEthereumAddress,
  isPlausibleAddress,
  parseEthereumAddress,
} from "../../../schema/directory/address.ts"

// schema/vectors/record-formats.json has the Bitcoin addresses that are accepted and refused.

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
})

describe("any other address", () => {
  it("must have 3 to 256 visible ASCII characters and no vertical bar", () => {
    expect(isPlausibleAddress("rEb8TK3gBgk5auZkwc6sHnwrGVJH8DuaLh")).toBe(true)
    expect(
      ["ab", "a b c", "abc|def", "abc\n", "ünïcode", "a".repeat(257)].filter(isPlausibleAddress),
    ).toEqual([])
  })
})
