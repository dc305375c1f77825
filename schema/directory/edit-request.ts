import { Schema } from "effect"
import { optional } from "../wire-format.ts"
import { RecordInput } from "./records/record.ts"

export const maxRecordsPerId = 256
const maxInserts = 100

const Hex = (digits: number) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^(0x)?[0-9a-fA-F]{${digits}}$`), {
      message: `expected ${digits} hex digits`,
    }),
  )

export const EditRequest = Schema.Struct({
  insert: optional(Schema.Array(RecordInput).check(Schema.isMaxLength(maxInserts))).annotateKey({
    description:
      "The records to add. A record of a single-value category replaces the record of the same category. If the list has several of one category, the last one is stored.",
  }),
  delete: optional(
    Schema.Array(Schema.String.check(Schema.isMaxLength(128))).check(Schema.isMaxLength(maxRecordsPerId)),
  ).annotateKey({
    description: "The hashes of the records to remove. The id must have all of them.",
  }),
  bypass_single_restrictions: optional(Schema.Boolean).annotateKey({
    description:
      "If true, a new record of a single-value category replaces nothing: the id then has several. Mark one of them as the default.",
  }),
  merkle_root: optional(Hex(64)).annotateKey({
    description:
      "The Merkle root of the hashes of all records that the id has after this edit, as 64 hex digits. The edit is refused if it is another one. It protects against edits by others that you have not seen.",
  }),
  signature: optional(Hex(128)).annotateKey({
    description:
      "The Ed25519 signature of the bytes of `merkle_root`, as 128 hex digits, by the key that owns the id. Required with `merkle_root`, unless the service keeps the key.",
  }),
}).annotate({
  identifier: "EditRequest",
  examples: [{ insert: [{ tag: "0x4001", data: "https://example.com" }] }],
})
export type EditRequest = typeof EditRequest.Type
