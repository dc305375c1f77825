import { Effect } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import { maxRecordsPerId } from "../../schema/edit-request.ts"
import type { DirectoryRecord } from "../../schema/record.ts"
import { findSingleValueKey } from "../../schema/record-selection.ts"
import { parseTag } from "../../schema/record-tag.ts"
import type { Writer } from "../services/writer.ts"
import { Sql } from "./sql.ts"

/** What the store holds of an entry besides its data. */
export interface StoredFacts {
  readonly created_at: string
  readonly updated_at: string
  readonly is_locked: boolean
  readonly locked_future_writes_at?: string
}

export interface RecordEdit {
  readonly canonical: string
  readonly writer: Writer
  readonly insert: ReadonlyArray<DirectoryRecord>
  readonly delete: ReadonlyArray<string>
  readonly bypass: boolean
  /** The edit was decided on this version; another one makes it stale. */
  readonly expected?: number
  readonly merkleRoot?: string
  readonly signature?: string
  readonly store?: {
    readonly key: string
    readonly data: string
    readonly lockedFutureWritesAt: string | undefined
    /** The inserts are to be the key's whole linked set. */
    readonly linked: boolean
  }
}

export type EditOutcome =
  | {
      readonly outcome: "changed"
      readonly version: number
      readonly events: ReadonlyArray<ChannelPosition>
      readonly store?: StoredFacts
    }
  | { readonly outcome: "unchanged" | "absent" | "forbidden" | "stale" | "crowded" }
  | { readonly outcome: "duplicate" | "unknown"; readonly hashes: ReadonlyArray<string> }
  | { readonly outcome: "locked"; readonly at: string }

const toParameter = ({ expected, merkleRoot, signature, store, writer, ...edit }: RecordEdit) => ({
  canonical: edit.canonical,
  user_id: writer.userId,
  organizations: writer.organizations,
  admin: writer.isAdmin,
  delete: edit.delete,
  insert: edit.insert.map((record) => ({
    hash: record.hash,
    tag: parseTag(record.tag),
    data: record.data,
    single_key: findSingleValueKey(record) ?? null,
  })),
  bypass: edit.bypass,
  max_records: maxRecordsPerId,
  ...(expected !== undefined && { expected }),
  ...(merkleRoot !== undefined && { merkle_root: merkleRoot }),
  ...(signature !== undefined && { signature }),
  ...(store !== undefined && {
    store: {
      key: store.key,
      data: store.data,
      unlocked: writer.mayUnlock,
      locked_future_writes_at: store.lockedFutureWritesAt ?? null,
      ...(store.linked && { linked: true }),
    },
  }),
})

/** Permission, version, records, store entry, version number and event: one statement. Never repeated by itself, as a
 * second run would find its own records there already. */
export const makeEditRecords = Effect.map(
  Sql,
  (sql) => (edit: RecordEdit) =>
    sql
      .once<{ result: EditOutcome }>(
        (q) => q`select edit_records(${JSON.stringify(toParameter(edit))}::text::jsonb) as result`,
      )
      .pipe(
        Effect.map(([row]): EditOutcome => row?.result ?? { outcome: "absent" }),
        Effect.catchTag("SqlRefused", (refused) =>
          refused.sqlstate === "EI003"
            ? Effect.succeed<EditOutcome>({ outcome: "crowded" })
            : Effect.die(refused),
        ),
      ),
)
