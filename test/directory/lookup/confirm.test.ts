import { expect, it } from "vitest"
import { parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import { normalizeRecord, RecordRefused } from "../../../schema/directory/records/record.ts"
import { isConfirmed } from "../../../src/directory/lookup/confirm-record.ts"

it.each([
  ["0x4001", "shop|https://example.com/shop", "shop"],
  ["0x5001", "never|pay|this", "never"],
])(
  "a record with tag %s is confirmed by its complete data, not by the part before the first vertical bar",
  (tag, data, part) => {
    const id = parseEmojiId("🐙")
    const record = normalizeRecord({ tag, data })
    if (id._tag !== "EmojiId" || record instanceof RecordRefused) throw new Error("not a case")
    expect(isConfirmed(id, [record], tag, data)).toBe(true)
    expect(isConfirmed(id, [record], tag, part)).toBe(false)
  },
)

const segwit = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
const ethereum = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
it.each([
  ["0x1003", segwit, segwit.toUpperCase()],
  ["0x1003", `${segwit.toUpperCase()}|till`, segwit],
  ["0x1004", `${ethereum}|till`, ethereum],
  ["0x3fff", `BTC|${segwit}`, segwit.toUpperCase()],
  ["0x3fff", `ETH|${ethereum.toLowerCase()}`, ethereum],
])(
  "a record with tag %s and data %s is confirmed by the same address written as %s",
  (tag, data, spelled) => {
    const id = parseEmojiId("🐙")
    const record = normalizeRecord({ tag, data })
    if (id._tag !== "EmojiId" || record instanceof RecordRefused) throw new Error("not a case")
    expect(isConfirmed(id, [record], tag, spelled)).toBe(true)
  },
)

it("a base58 address is not confirmed by the same address in lower case", () => {
  const id = parseEmojiId("🐙")
  const data = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
  const record = normalizeRecord({ tag: "0x1003", data })
  if (id._tag !== "EmojiId" || record instanceof RecordRefused) throw new Error("not a case")
  expect(isConfirmed(id, [record], "0x1003", data.toLowerCase())).toBe(false)
})
