import { Effect, Schema } from "effect"
import { Email } from "../../schema/accounts/email.ts"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { displayRecord, RecordInput } from "../../schema/directory/records/record.ts"
import { findSingleValueKey } from "../../schema/directory/records/record-selection.ts"
import { parseTag } from "../../schema/directory/records/record-tag.ts"
import { InvalidRequest, type Problem } from "../../schema/errors.ts"
import { Uuid } from "../../schema/wire-format.ts"
import { decoder } from "../http/request/decode.ts"
import type { IdToImport } from "./id-import-store.ts"
import { checkRecords, keepLastValues } from "./record-inputs.ts"

/** The columns of an import file. A file has `emoji_id`, and `email` or `user_id`. */
export const importColumns = ["emoji_id", "email", "user_id", "pubkey", "source", "records"] as const
export type ImportColumn = (typeof importColumns)[number]

/** The cells of a line. A column that the file does not have, and an empty cell, is undefined. */
export type ImportCells = Partial<Readonly<Record<ImportColumn, string>>>

const maxRecords = 100
const decodeEmail = decoder(Email, "email")
const decodeUserId = decoder(Uuid, "user_id")
const decodeRecords = decoder(Schema.Array(RecordInput).check(Schema.isMaxLength(maxRecords)), "records")
const sourcePattern = /^[\w.:-]{1,64}$/
const writer = { userId: "", organizations: [], isAdmin: true, mayUpdateSecureData: false }

const invalid = (error: string) => Effect.fail(new InvalidRequest({ error }))

const parseJson = (text: string) =>
  Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: () =>
      new InvalidRequest({ error: 'records: expected JSON such as [{"tag":"0x4001","data":"…"}]' }),
  })

interface Owner {
  readonly email?: string
  readonly user_id?: string
}

const checkOwner = ({ email, user_id }: ImportCells): Effect.Effect<Owner, InvalidRequest> => {
  if ((email === undefined) === (user_id === undefined)) return invalid("expected either email or user_id")
  return email === undefined
    ? Effect.map(Effect.fromResult(decodeUserId(user_id)), (id) => ({ user_id: id as string }))
    : Effect.map(Effect.fromResult(decodeEmail(email)), (address) => ({ email: address as string }))
}

/**
 * Checks the cells of a line by the rules of the API: those of `POST /emoji_id` and of an edit of its records. Returns the
 * id in the form in which it is stored.
 */
export const checkImportLine = Effect.fnUntraced(function* (
  cells: ImportCells,
): Effect.fn.Return<Omit<IdToImport, "n">, Problem> {
  const id = yield* checkEmojiId(cells.emoji_id ?? "")
  const owner = yield* checkOwner(cells)
  const label = cells.source
  if (label !== undefined && !sourcePattern.test(label))
    return yield* invalid("source: use 1 to 64 letters, digits, underscores, dots, colons or hyphens")
  const given = cells.records === undefined ? [] : yield* parseJson(cells.records)
  const inputs = (yield* Effect.fromResult(decodeRecords(given))) as ReadonlyArray<RecordInput>
  const records = keepLastValues(yield* checkRecords(id, inputs, "records", writer))
  return {
    canonical: id.canonical,
    ...owner,
    pubkey: cells.pubkey,
    source: label === undefined ? "import" : `import:${label}`,
    display: displayRecord(id.canonical, id.display()),
    records: records.map((record) => ({
      hash: record.hash,
      tag: parseTag(record.tag)!,
      data: record.data,
      single_key: findSingleValueKey(record),
    })),
  }
})
