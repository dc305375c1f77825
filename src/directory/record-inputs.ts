import { Effect } from "effect"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import {
  type DirectoryRecord,
  normalizeRecord,
  type RecordInput,
  RecordRefused,
} from "../../schema/directory/records/record.ts"
import { findSingleValueKey } from "../../schema/directory/records/record-selection.ts"
import { parseTag, secureTags } from "../../schema/directory/records/record-tag.ts"
import { invalidValue } from "../../schema/errors.ts"
import { FieldFaults } from "../../schema/field-faults.ts"
import { reservedTagText } from "./edit-outcome.ts"
import type { WritePermission } from "./write-permission.ts"

/**
 * Validates the records of a request and returns them in the stored form. `field` is the name of the body member that
 * contains them; error messages use it. Every write of a caller's records uses this function, so the tags that only the
 * operator may set are refused here.
 */
export const checkRecords = Effect.fnUntraced(function* (
  id: EmojiId,
  inputs: ReadonlyArray<RecordInput>,
  field: string,
  { mayUpdateSecureData }: WritePermission,
) {
  const faults = new FieldFaults()
  const records: Array<DirectoryRecord> = []
  const seen = new Set<string>()
  for (const [place, input] of inputs.entries()) {
    if (!mayUpdateSecureData && secureTags.has(parseTag(input.tag) ?? -1)) {
      faults.add(field, "reserved_tag", `${field}.${place}: ${reservedTagText}`)
      continue
    }
    const record = normalizeRecord(input, id)
    if (record instanceof RecordRefused) {
      if (record.code === "invalid_tag") {
        return yield* invalidValue("body", `${field}.${place}.tag`, record.message, record.code)
      }
      faults.add(field, record.code, `${field}.${place}: ${record.message}`)
    } else if (seen.has(record.hash)) {
      faults.add(field, "uniqueness", `${field}.${place}: The request contains this record twice.`)
    } else {
      seen.add(record.hash)
      records.push(record)
    }
  }
  yield* faults.check
  return records
})

/**
 * Returns the records, but only the last record of each single-value category. The result is the same as if the records
 * were inserted one after the other.
 */
export const keepLastValues = (records: ReadonlyArray<DirectoryRecord>): ReadonlyArray<DirectoryRecord> => {
  const lastOf = new Map(records.map((record) => [findSingleValueKey(record) ?? record.hash, record]))
  return records.filter((record) => lastOf.get(findSingleValueKey(record) ?? record.hash) === record)
}
