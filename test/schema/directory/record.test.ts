import { blake2b } from "@noble/hashes/blake2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import { describe, expect, it } from "vitest"
import {
  type DirectoryRecord,
  maxRecordBytes,
  normalizeRecord,
  type RecordRefused,
  recordDataBytes,
  recordHash,
} from "../../../schema/directory/record.ts"
import { readId } from "./emoji-id-arbitrary.ts"

const normalized = (tag: string, data: string): DirectoryRecord => {
  const record = normalizeRecord({ tag, data })
  if ("code" in record) throw new Error(record.message)
  return record
}
const refused = (tag: string, data: string): RecordRefused["code"] | undefined => {
  const record = normalizeRecord({ tag, data })
  return "code" in record ? record.code : undefined
}

const btc = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
const eth = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
const ethHex = "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"

describe("the hash of a record", () => {
  // Every expected hash of these tests was computed with Python's hashlib.blake2b(digest_size=32).
  it("uses a Blake2b-256 function that returns the reference values", () => {
    const hash = (text: string) => bytesToHex(blake2b(utf8ToBytes(text), { dkLen: 32 }))
    expect(hash("")).toBe("0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8")
    expect(hash("abc")).toBe("bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
  })

  it.each([
    ["text", "0x5001", "héllo 🔥", "6334ff9481c4320595229bb2855f380963c1173d678e681ae2bc30816e20f81c"],
    ["a bitcoin address", "0x1003", btc, "7cde7d6273c2ed2b44daff5a95b0da99100d158b4acca573f0fc95a6e38f7804"],
    [
      "an ethereum address",
      "0x1004",
      eth,
      "2fa615708beab566105a7b31b9bea618e2a1db9696cb5d2bd16bdf6be35dcd68",
    ],
    [
      "an ethereum address with its text fields",
      "0x1004",
      `${eth}|my wallet ☕|sig|t`,
      "6875125ddc1b379027d55a9f1be177dd11f8632e3f29a1a5ff5cce245c81c23d",
    ],
    ["a chain key", "0x0101", "0x00FF10", "8c64bf30bd47165f5aee5ce3c01e3c5bd78e15023717c10c86671c98dabd067b"],
  ])(
    "with %s is the Blake2b-256 hash of the tag (low byte first) and the data bytes",
    (_, tag, data, hash) => {
      expect(normalized(tag, data).hash).toBe(hash)
    },
  )

  it("can be computed again from the stored data", () => {
    for (const [tag, data] of [
      ["0x1004", `${eth}|a|b|t`],
      ["0x0101", "ABCD"],
      ["0x0103", "0xABCD"],
      ["0x0104", "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"],
      ["0x0005", "nick"],
    ] as const) {
      const record = normalized(tag, data)
      expect(recordHash(Number(tag), recordDataBytes(Number(tag), record.data))).toBe(record.hash)
      expect(normalized(record.tag, record.data)).toEqual(record)
    }
  })
})

describe("a record", () => {
  it("is stored with unchanged text and a normalized tag", () => {
    expect(normalized("0X5001", "  As I  wrote it\n")).toMatchObject({
      tag: "0x5001",
      data: "  As I  wrote it\n",
    })
    expect(normalized("0x2", "short tag").tag).toBe("0x0002")
  })

  it("is stored with binary data as lower-case hex without 0x", () => {
    expect(normalized("0x0101", "0xABCDEF").data).toBe("abcdef")
    expect(normalized("0x0103", "0xABCDEF").data).toBe("abcdef")
    expect(normalized("0x1004", eth).data).toBe(ethHex)
    expect(normalized("0x1004", `${eth}|My Wallet|SIG|t`).data).toBe(`${ethHex}|My Wallet|SIG|t`)
    expect(normalized("0x1004", ethHex).hash).toBe(normalized("0x1004", eth).hash)
  })

  it.each([
    ["0x1003", btc],
    ["0x1003", `${btc}|savings||`],
    ["0x1013", "DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L|dog|sig|f"],
    ["0x3fff", "PEPE|0xabc|frog||t"],
    ["0x6200", "alice$example.com"],
    ["0x6300", "USDX|Dollar X|Tron|TXYZabc|desc|sig"],
    ["0x6300", "USDX||Tron|TXYZabc"],
    ["0x0004", "https://example.com/a?b=c|d"],
    ["0x4001", "https://example.com"],
    ["0x4001", "shop|https://example.com"],
    ["0x0001", "👍🏿🔥"],
    ["0x4100", "example.com"],
    ["0x0104", "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"],
    ["0x0000", "ab".repeat(32)],
    ["0x0003", "2030-01-31T12:00:00Z"],
  ])("with tag %s accepts the data %s", (tag, data) => {
    expect(normalized(tag, data).data).toBe(data)
  })

  it.each([
    ["1003", btc, "invalid_tag"],
    ["0x4300", "x", "unknown_tag"],
    ["0x7000", "x", "unknown_tag"],
    ["0x5001", "", "empty"],
    ["0x5001", "a\0b", "invalid_text"],
    ["0x5001", "a\uD83D", "invalid_text"],
    ["0x0101", "abc", "invalid_hex"],
    ["0x0101", "0x", "invalid_hex"],
    ["0x0101", "zz", "invalid_hex"],
    ["0x0103", "zz", "invalid_hex"],
    ["0x0103", "abc", "invalid_hex"],
    ["0x0104", "0OIl", "invalid_base58"],
    ["0x0104", "9xQe|wallet", "invalid_base58"],
    ["0x3fff", "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045", "invalid_address"],
    ["0x0000", "mine", "invalid_pubkey"],
    ["0x0003", "never", "invalid_date"],
    ["0x0003", "2030-13-40T00:00:00Z", "invalid_date"],
    ["0x0003", "2030-02-30T00:00:00Z", "invalid_date"],
    ["0x1003", "1234", "invalid_address"],
    ["0x1003", `${btc}|a|b|t|more`, "invalid_address"],
    ["0x1003", `${btc}|a|b|yes`, "invalid_address"],
    ["0x1003", `|${btc}`, "invalid_address"],
    ["0x1004", `${eth.slice(0, -1)}D`, "invalid_address"],
    ["0x1013", "with space", "invalid_address"],
    ["0x3fff", "0xabc", "invalid_address"],
    ["0x3fff", "A:B|0xabc", "invalid_address"],
    ["0x6300", "USDX|Dollar|Tron", "invalid_address"],
    ["0x6300", "USDX|Dollar|ETH|0xabc", "invalid_address"],
    ["0x6300", `USDX|Dollar|Polygon|${eth.slice(0, -1)}D`, "invalid_address"],
    ["0x6300", `USDX|Dollar|Bitcoin|${eth}`, "invalid_address"],
    ["0x6300", "US:DX|Dollar|Tron|addr", "invalid_address"],
    ["0x6300", "USDX|Dollar|Tron|addr|d|s|t", "invalid_address"],
    ["0x0004", "javascript:alert(1)", "invalid_url"],
    ["0x0004", "//example.com", "invalid_url"],
    ["0x0004", "https://example.com/\r\nSet-Cookie: a=b", "invalid_url"],
    ["0x0004", "https://", "invalid_url"],
    ["0x4001", "shop|ftp://example.com", "invalid_url"],
    ["0x4001", "|https://example.com", "invalid_url"],
    ["0x0001", "tone 5", "invalid_display_modifiers"],
  ])("with tag %s rejects the data %j with the code `%s`", (tag, data, code) => {
    expect(refused(tag, data)).toBe(code)
  })

  it("has a maximum size that is counted in bytes, not in characters", () => {
    expect(refused("0x5001", "é".repeat(maxRecordBytes / 2))).toBeUndefined()
    expect(refused("0x5001", "é".repeat(maxRecordBytes / 2 + 1))).toBe("too_long")
    expect(refused("0x5001", "x".repeat(50_000_000))).toBe("too_long")
  })

  it("with display modifiers is rejected if the modifiers belong to another id", () => {
    const modifiers = { tag: "0x0001", data: "👍🏿" }
    expect("code" in normalizeRecord(modifiers, readId("👍"))).toBe(false)
    expect(normalizeRecord(modifiers, readId("👎"))).toMatchObject({ code: "invalid_display_modifiers" })
  })
})
