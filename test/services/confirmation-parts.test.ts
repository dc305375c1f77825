import { expect, it } from "vitest"
import { parseEmojiId } from "../../schema/emoji-id.ts"
import { normalizeRecord, RecordRefused } from "../../schema/record.ts"
import { isConfirmed } from "../../src/services/confirmation.ts"

it.each([
  ["0x4001", "shop|https://example.com/shop", "shop"],
  ["0x5001", "never|pay|this", "never"],
])(
  "a %s record is confirmed by all of its data, not by what stands before its first bar",
  (tag, data, part) => {
    const id = parseEmojiId("🐙")
    const record = normalizeRecord({ tag, data })
    if (id._tag !== "EmojiId" || record instanceof RecordRefused) throw new Error("not a case")
    expect(isConfirmed(id, [record], tag, data)).toBe(true)
    expect(isConfirmed(id, [record], tag, part)).toBe(false)
  },
)
