import { describe, expect, it } from "vitest"
import {
  AddressesRefused,
  parseAddressJson,
  parseAddressPairs,
} from "../../../schema/directory/address-list.ts"
import { bitcoin, ethereum, otherBitcoin } from "../../directory/directory-service.ts"

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64")
const shown = (read: ReturnType<typeof parseAddressJson>) =>
  read instanceof AddressesRefused ? read.message : read.map(({ data, tag }) => [tag, data])

describe("addresses of a partner", () => {
  it("are parsed from pairs of tag and address that are separated by vertical bars", () => {
    expect(shown(parseAddressPairs(`0x1003=${bitcoin}|0x1004=${ethereum}`))).toEqual([
      ["0x1003", bitcoin],
      ["0x1004", ethereum.slice(2).toLowerCase()],
    ])
    expect(shown(parseAddressPairs(""))).toEqual([])
  })

  it("may be chain keys, and have tags in any letter case and empty parts between them", () => {
    const [hex, base58] = ["ab".repeat(32), "7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK"]
    expect(
      shown(parseAddressPairs(`0x0101=${hex}||0x0103=${hex}|0x0104=${base58}|0X106E=4AdUndXHHZ|`)),
    ).toEqual([
      ["0x0101", hex],
      ["0x0103", hex],
      ["0x0104", base58],
      ["0x106e", "4AdUndXHHZ"],
    ])
    // A record of a key has no field for the wallet name.
    expect(shown(parseAddressJson(base64([{ "257": `${hex}|Savings` }])))).toEqual([["0x0101", hex]])
  })

  it("contain each address only once", () => {
    expect(shown(parseAddressPairs(`0x1003=${bitcoin}|0x1003=${bitcoin}`))).toHaveLength(1)
  })

  it("are parsed from Base64-encoded JSON with hex or decimal tags and optional descriptions", () => {
    const text = base64([{ "0x1003": `${otherBitcoin}|Savings` }, { "4100": ethereum }])
    const expected = [
      ["0x1003", `${otherBitcoin}|Savings`],
      ["0x1004", ethereum.slice(2).toLowerCase()],
    ]
    expect(shown(parseAddressJson(text))).toEqual(expected)
    expect(shown(parseAddressJson(text.replaceAll("+", " ")))).toEqual(expected)
    expect(shown(parseAddressJson(Buffer.from(text, "base64").toString("base64url")))).toEqual(expected)
  })

  it.each([
    "0x1003",
    "=x",
    `1003=${bitcoin}`,
    `0x10030=${bitcoin}`,
    "0x1003=not-an-address",
    "0x0004=https://evil.example",
    "0x0102=00ff",
    "0x0101=not-hex",
    "0x1003=",
    Array.from({ length: 51 }, (_, i) => `0x1010=address${i}`).join("|"),
  ])("are all rejected if a pair is invalid or there are more than 50 pairs: %s", (text) => {
    expect(parseAddressPairs(text)).toBeInstanceOf(AddressesRefused)
  })

  it.each([
    "%%%",
    "AAAA",
    base64({}),
    base64("text"),
    base64([[]]),
    base64([{}]),
    base64([{ "0x1003": bitcoin, "0x1004": ethereum }]),
    base64([{ "0x1003": 7 }]),
    base64([{ "0xzz": bitcoin }]),
    base64([null]),
    base64(Array.from({ length: 51 }, (_, i) => ({ "0x1010": `address${i}` }))),
    Buffer.from([0x5b, 0xff, 0x5d]).toString("base64"),
  ])("are all rejected if the Base64-encoded JSON is invalid or has more than 50 items (%#)", (text) => {
    expect(parseAddressJson(text)).toBeInstanceOf(AddressesRefused)
  })
})
