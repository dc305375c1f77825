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
} from "../../../schema/directory/records/record.ts"

const normalized = (tag: string, data: string): DirectoryRecord => {
  const record = normalizeRecord({ tag, data })
  if ("code" in record) throw new Error(record.message)
  return record
}
const refused = (tag: string, data: string): RecordRefused["code"] | undefined => {
  const record = normalizeRecord({ tag, data })
  return "code" in record ? record.code : undefined
}

const eth = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

// schema/vectors has the accepted and refused data, the stored form and the hash of each kind of record.

describe("the hash of a record", () => {
  // The expected hashes were computed with Python's hashlib.blake2b(digest_size=32).
  it("uses a Blake2b-256 function that returns the reference values", () => {
    const hash = (text: string) => bytesToHex(blake2b(utf8ToBytes(text), { dkLen: 32 }))
    expect(hash("")).toBe("0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8")
    expect(hash("abc")).toBe("bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
  })

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
  it.each([
    ["0x0000", "ab".repeat(32), undefined],
    ["0x0000", "mine", "invalid_pubkey"],
    ["0x0003", "2030-01-31T12:00:00Z", undefined],
    ["0x0003", "never", "invalid_date"],
    ["0x0003", "2030-13-40T00:00:00Z", "invalid_date"],
    ["0x0003", "2030-02-30T00:00:00Z", "invalid_date"],
  ])("with the operator's tag %s and the data %j is refused with the code `%s`", (tag, data, code) => {
    expect(refused(tag, data)).toBe(code)
  })

  it("has a maximum size that is counted in bytes, not in characters", () => {
    expect(refused("0x5001", "é".repeat(maxRecordBytes / 2))).toBeUndefined()
    expect(refused("0x5001", "é".repeat(maxRecordBytes / 2 + 1))).toBe("too_long")
    expect(refused("0x5001", "x".repeat(50_000_000))).toBe("too_long")
  })
})
