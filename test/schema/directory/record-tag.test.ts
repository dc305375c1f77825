import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  findRecordClass,
  formatTag,
  parseHexOrDecimalTag,
  parseTag,
  parseTagFilter,
  tags,
} from "../../../schema/directory/records/record-tag.ts"
import { nativeTickers } from "../../../schema/directory/ticker.ts"

describe("a tag", () => {
  it("is parsed from hex in upper and lower case, and from decimal for partners", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), (tag) => {
        expect(formatTag(tag)).toMatch(/^0x[0-9a-f]{4}$/)
        expect(parseTag(formatTag(tag))).toBe(tag)
        expect(parseTag(formatTag(tag).toUpperCase())).toBe(tag)
        expect(parseHexOrDecimalTag(String(tag))).toBe(tag)
        expect(parseHexOrDecimalTag(formatTag(tag))).toBe(tag)
      }),
    )
  })

  it("can be written in decimal up to 65535", () => {
    expect(parseHexOrDecimalTag("4100")).toBe(tags.ethereum)
    expect(parseHexOrDecimalTag("65536")).toBeUndefined()
  })
})

describe("a tag filter", () => {
  it("is parsed from a comma-separated list of tags, and spaces are ignored", () => {
    expect(parseTagFilter("0x1003,0X1004, 0x0001")).toEqual(new Set([0x1003, 0x1004, 1]))
  })

  it("is undefined if a part is not a tag, or if there are too many tags", () => {
    expect(parseTagFilter("")).toBeUndefined()
    expect(parseTagFilter("0x1003,BTC")).toBeUndefined()
    expect(parseTagFilter("0x1003,".repeat(100_000))).toBeUndefined()
  })
})

describe("a ticker", () => {
  it("has its own tag if it is in the published list", () => {
    expect(nativeTickers.size).toBe(101)
    expect(nativeTickers.get("BTC")).toBe(tags.bitcoin)
    expect(nativeTickers.get("XMR_SUB")).toBe(0x1002)
    expect([...nativeTickers.values()].every((tag) => findRecordClass(tag) === "crypto")).toBe(true)
  })
})
