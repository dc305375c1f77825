import { Effect } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import { maxRecordsPerId } from "../../schema/edit-request.ts"
import type { DirectoryRecord } from "../../schema/record.ts"
import { findSingleValueKey } from "../../schema/record-selection.ts"
import { parseTag } from "../../schema/record-tag.ts"
import type { Writer } from "../services/writer.ts"
import { gather } from "./gather.ts"
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

const maxEditsPerStatement = 16

/**
 * Permission, version, records, store entry, version number and event: one statement, for all who ask at the same time.
 * Ids are locked in order. Never repeated by itself, as a second run would find its own records there already.
 */
export const makeEditRecords = Effect.map(Sql, (sql) => {
  const send = (edits: ReadonlyArray<RecordEdit>) =>
    sql.once<{ n: number; result: EditOutcome }>(
      (q) => q`select x.n, edit_records(x.edit) as result
                 from (select edit, n from jsonb_array_elements(${JSON.stringify(edits.map(toParameter))}::text::jsonb)
                         with ordinality as y(edit, n) order by edit->>'canonical', n) x`,
    )

  const editAlone = (edit: RecordEdit) =>
    send([edit]).pipe(
      Effect.map(([row]): EditOutcome => row?.result ?? { outcome: "absent" }),
      Effect.catchTag("SqlRefused", (refused) =>
        refused.sqlstate === "EI003"
          ? Effect.succeed<EditOutcome>({ outcome: "crowded" })
          : Effect.die(refused),
      ),
    )

  return gather({
    run: (edits: ReadonlyArray<RecordEdit>) =>
      send(edits).pipe(
        Effect.map((rows) => {
          const outcomes = new Map(rows.map(({ n, result }) => [n, result]))
          return edits.map((_, i) =>
            Effect.succeed<EditOutcome>(outcomes.get(i + 1) ?? { outcome: "absent" }),
          )
        }),
        // Nothing is done then. One of them has too many records, and nobody else suffers for it.
        Effect.catchTag("SqlRefused", () => Effect.succeed(edits.map(editAlone))),
      ),
    maxStatements: Math.ceil(sql.poolSize / 2),
    maxAsks: maxEditsPerStatement,
  })
})
