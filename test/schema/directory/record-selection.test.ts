import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import {
  findSingleValueKey,
  PaymentAddress,
  paymentAddresses,
  recordsOfTicker,
} from "../../../schema/directory/records/record-selection.ts"

const btc = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
const otherBtc = "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"
const record = (tag: string, data: string) => ({ tag, data })

describe("the replacement key (a record replaces records with the same key)", () => {
  it("is the tag if its category allows only one value", () => {
    expect(findSingleValueKey(record("0x1003", btc))).toBe("0x1003")
    expect(findSingleValueKey(record("0x1003", otherBtc))).toBe("0x1003")
    expect(
      ["0x0002", "0x0004", "0x0005", "0x0006"].map((tag) => findSingleValueKey(record(tag, "x"))),
    ).toEqual(["0x0002", "0x0004", "0x0005", "0x0006"])
  })

  it("contains the ticker if the record is a generic crypto record", () => {
    expect(findSingleValueKey(record("0x3fff", "PEPE|abc"))).toBe("0x3fff:PEPE")
    expect(findSingleValueKey(record("0x3fff", "pepe|def|desc"))).toBe("0x3fff:PEPE")
    expect(findSingleValueKey(record("0x3fff", "WIF|abc"))).toBe("0x3fff:WIF")
  })

  it("is undefined if the category allows several values", () => {
    const many = ["0x0001", "0x0101", "0x4001", "0x5001", "0x6200", "0x6300"]
    expect(many.map((tag) => findSingleValueKey(record(tag, "x")))).toEqual(many.map(() => undefined))
  })
})

describe("the records of a ticker", () => {
  const records = [
    record("0x1003", btc),
    record("0x1001", "44AFFq5kSiGBoZ"),
    record("0x1002", "8AFFq5kSiGBoZ"),
    record("0x3fff", "pepe|abc"),
    record("0x3fff", "WIF|abc"),
    record("0x5001", "BTC"),
  ]

  it("are the records with the ticker's own tag and the generic records that name the ticker", () => {
    expect(recordsOfTicker(records, "BTC")).toEqual([records[0]])
    expect(recordsOfTicker(records, "xmr")).toEqual([records[1]])
    expect(recordsOfTicker(records, "XMR_SUB")).toEqual([records[2]])
    expect(recordsOfTicker(records, "PEPE")).toEqual([records[3]])
  })

  it("begin with the records with the ticker's own tag, even if a generic record is older", () => {
    const generic = record("0x3fff", `btc|${btc}`)
    expect(recordsOfTicker([generic, ...records], "BTC")).toEqual([records[0], generic])
  })

  it("are an empty list if the ticker is unknown or invalid", () => {
    expect(recordsOfTicker(records, "NOPE")).toEqual([])
    expect(recordsOfTicker(records, "not a ticker")).toEqual([])
  })
})

describe("payment addresses", () => {
  it("contain the newest address of each category", () => {
    const addresses = paymentAddresses([
      record("0x1003", btc),
      record("0x5001", "text"),
      record("0x1003", otherBtc),
    ])
    expect(addresses).toEqual({ "0x1003": { address: otherBtc, category: "0x1003", default: false } })
  })

  it("contain the newest default address of a category that has a default address", () => {
    const chosen = (...data: ReadonlyArray<string>) =>
      paymentAddresses(data.map((text) => record("0x1013", text)))["0x1013"]?.address
    expect(chosen("aaa|||t", "bbb", "ccc")).toBe("aaa")
    expect(chosen("aaa|||t", "bbb|||t", "ccc|||f")).toBe("bbb")
  })

  it("contain all fields of the record, and an Ethereum address with prefix and checksum", () => {
    const ethereum = record("0x1004", "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed|Main|SIG|t")
    expect(paymentAddresses([ethereum])["0x1004"]).toEqual({
      address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      category: "0x1004",
      default: true,
      description: "Main",
      signature: "SIG",
    })
  })

  it("of tokens have keys made of the tag, the token's name and the network", () => {
    const addresses = paymentAddresses([
      record("0x6300", "USDX|Dollar X|Tron|TXYZ1"),
      record("0x6300", "USDX|Dollar X|Solana|SXYZ1|hot|SIG"),
      record("0x6300", "USDX|Dollar X|Tron|TXYZ2"),
    ])
    expect(Object.keys(addresses)).toEqual(["0x6300:USDX:Tron", "0x6300:USDX:Solana"])
    expect(addresses["0x6300:USDX:Tron"]?.address).toBe("TXYZ2")
    expect(addresses["0x6300:USDX:Solana"]).toEqual({
      address: "SXYZ1",
      category: "0x6300",
      default: false,
      description: "hot",
      long_name: "Dollar X",
      settlement_network: "Solana",
      short_name: "USDX",
      signature: "SIG",
    })
  })

  it("of tokens and generic records on Ethereum-style networks have 0x and a checksum", () => {
    const [bare, checksummed] = [
      "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    ]
    const addresses = paymentAddresses([
      record("0x6300", `USDX||Polygon|${bare}`),
      record("0x3fff", `ETH|0x${bare}`),
      record("0x6300", "USDX||ETH|not-an-address"),
    ])
    expect(addresses["0x6300:USDX:Polygon"]?.address).toBe(checksummed)
    expect(addresses["0x3fff:ETH"]?.address).toBe(checksummed)
    expect(addresses["0x6300:USDX:ETH"]?.address).toBe("not-an-address")
  })

  it("of generic crypto records have one key per ticker and one key for the whole category", () => {
    const addresses = paymentAddresses([record("0x3fff", "PEPE|p111"), record("0x3fff", "WIF|w111")])
    expect(addresses["0x3fff"]?.address).toBe("w111")
    expect(addresses["0x3fff:PEPE"]?.address).toBe("p111")
    expect(addresses["0x3fff:WIF"]).toMatchObject({ category: "0x3fff", short_name: "WIF" })
  })

  it("match their schema", () => {
    const decode = Schema.decodeUnknownSync(Schema.Record(Schema.String, PaymentAddress), {
      onExcessProperty: "error",
    })
    const addresses = paymentAddresses([
      record("0x1003", `${btc}|a|b|t`),
      record("0x6200", "alice$example.com"),
    ])
    expect(decode(addresses)).toEqual(addresses)
    expect(Object.keys(addresses)).toEqual(["0x1003", "0x6200"])
  })
})
