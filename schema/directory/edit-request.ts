import { Schema } from "effect"
import { optional } from "../wire-format.ts"
import { RecordInput } from "./record.ts"

export const maxRecordsPerId = 256
const maxInserts = 100

const Hex = (digits: number) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^(0x)?[0-9a-fA-F]{${digits}}$`), {
      message: `expected ${digits} hex digits`,
    }),
  )

export const EditRequest = Schema.Struct({
  insert: optional(Schema.Array(RecordInput).check(Schema.isMaxLength(maxInserts))),
  delete: optional(
    Schema.Array(Schema.String.check(Schema.isMaxLength(128))).check(Schema.isMaxLength(maxRecordsPerId)),
  ),
  bypass_single_restrictions: optional(Schema.Boolean),
  merkle_root: optional(Hex(64)),
  signature: optional(Hex(128)),
}).annotate({
  identifier: "EditRequest",
  examples: [{ insert: [{ tag: "0x4001", data: "https://example.com" }] }],
})
export type EditRequest = typeof EditRequest.Type
