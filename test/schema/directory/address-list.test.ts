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

  it("can be chain public keys, which some wallets use as addresses", () => {
    const key = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"
    const expected = [
      ["0x0101", "abcdef01"],
      ["0x0103", "ff00aa"],
      ["0x0104", key],
      ["0x106e", "0xanything"],
    ]
    const pairs = `0x0101=ABCDEF01|0x0103=0xFF00aa|0x0104=${key}|0x106E=0xanything`
    expect(shown(parseAddressPairs(pairs))).toEqual(expected)
    const items = [
      { "0x0101": "ABCDEF01|My wallet" },
      { "259": "0xFF00aa" },
      { "0x0104": `${key}|My wallet` },
      { "0x106E": "0xanything" },
    ]
    expect(shown(parseAddressJson(base64(items)))).toEqual(expected)
  })

  it("can be generic crypto records, whose data contains a vertical bar", () => {
    expect(shown(parseAddressPairs(`0x3fff=KAS|kaspa:abc|0x1003=${bitcoin}`))).toEqual([
      ["0x3fff", "KAS|kaspa:abc"],
      ["0x1003", bitcoin],
    ])
  })

  it("of tag 0x3fff without a ticker are rejected with the expected form and an example", () => {
    const explained = expect.stringMatching(/0x3fff.*TICKER\|ADDRESS, for example KAS\|kaspa:/)
    expect(shown(parseAddressPairs(`0x3fff=${ethereum}|0x1003=${bitcoin}`))).toEqual(explained)
    expect(shown(parseAddressJson(base64([{ "0x3fff": `${ethereum}|My wallet` }])))).toEqual(explained)
  })

  it("can have tags in any letter case, and empty parts between them", () => {
    expect(shown(parseAddressPairs(`0X1003=${bitcoin}||0x106e=4AdUndXHHZ|`))).toEqual([
      ["0x1003", bitcoin],
      ["0x106e", "4AdUndXHHZ"],
    ])
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
    "0x0101=not-hex",
    "0x0104=not-base58-0OIl",
    "0x0000=00ff",
    "0x0102=00ff",
    "0x1003=",
    "0x0003=never",
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
