import { expect, it } from "vitest"
import { normalizeRecord, RecordRefused } from "../../../schema/directory/record.ts"

it("the checksum of an address is also checked in a record with the generic crypto tag 0x3fff", () => {
  const mistyped = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"
  expect(normalizeRecord({ tag: "0x1003", data: mistyped })).toBeInstanceOf(RecordRefused)
  expect(normalizeRecord({ tag: "0x3fff", data: `BTC|${mistyped}` })).toBeInstanceOf(RecordRefused)
  expect(
    normalizeRecord({ tag: "0x3fff", data: "eth|0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD" }),
  ).toMatchObject({})
  expect(
    normalizeRecord({ tag: "0x3fff", data: "eth|0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD" }),
  ).toBeInstanceOf(RecordRefused)
})
