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

  it("contain each address only once", () => {
    expect(shown(parseAddressPairs(`0x1003=${bitcoin}|0x1003=${bitcoin}`))).toHaveLength(1)
  })

  it("contain only the last of 300 addresses of a category that has one value", () => {
    const sent = Array.from({ length: 300 }, (_, i) => `address${i}`)
    const last = [["0x1010", "address299"]]
    expect(shown(parseAddressPairs(sent.map((address) => `0x1010=${address}`).join("|")))).toEqual(last)
    expect(shown(parseAddressJson(base64(sent.map((address) => ({ "0x1010": address })))))).toEqual(last)
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
    "0x0101=00ff",
    Array.from({ length: 51 }, (_, i) => `0x6200=address${i}`).join("|"),
    Array.from({ length: 501 }, (_, i) => `0x1010=address${i}`).join("|"),
  ])("are all rejected if a pair is invalid, or there are more than 50 records or 500 pairs: %s", (text) => {
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
    base64(Array.from({ length: 51 }, (_, i) => ({ "0x6200": `address${i}` }))),
    base64(Array.from({ length: 501 }, (_, i) => ({ "0x1010": `address${i}` }))),
    Buffer.from([0x5b, 0xff, 0x5d]).toString("base64"),
  ])(
    "are all rejected if the Base64-encoded JSON is invalid, or has more than 50 records or 500 items (%#)",
    (text) => {
      expect(parseAddressJson(text)).toBeInstanceOf(AddressesRefused)
    },
  )
})
