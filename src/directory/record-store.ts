import { Effect } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import { maxRecordsPerId } from "../../schema/directory/edit-request.ts"
import type { DirectoryRecord } from "../../schema/directory/record.ts"
import { findSingleValueKey } from "../../schema/directory/record-selection.ts"
import { parseTag } from "../../schema/directory/record-tag.ts"
import { Sql } from "../postgres/sql.ts"
import { batchWrites } from "../turns/batch-writes.ts"
import type { WritePermission } from "./write-permission.ts"

/** What the store holds of an entry besides its data. */
export interface StoredFacts {
  readonly created_at: string
  readonly updated_at: string
  readonly is_locked: boolean
  readonly locked_future_writes_at?: string
}

export interface RecordEdit {
  readonly canonical: string
  readonly permission: WritePermission
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

/** What `edit_batch` answers. Edits are counted from one. */
interface Edited {
  readonly refused: Readonly<Record<number, EditOutcome>>
  /** The numbers of those that changed something, and for each of these its version and where its channel has come to. */
  readonly changed: ReadonlyArray<number>
  readonly versions: ReadonlyArray<number>
  readonly ends: ReadonlyArray<number>
  /** By id. */
  readonly stored: Readonly<Record<string, StoredFacts>>
}

/** What `edit_batch` takes: each kind of row in one list. */
const toParameter = (edits: ReadonlyArray<RecordEdit>): string => {
  const lists = { edits: [], deletes: [], inserts: [], stores: [] } as Record<string, Array<unknown>>
  edits.forEach((edit, i) => {
    const n = i + 1
    const { canonical, store, permission } = edit
    lists.edits!.push({
      n,
      canonical,
      user_id: permission.userId,
      organizations: permission.organizations,
      admin: permission.isAdmin,
      expected: edit.expected,
      merkle_root: edit.merkleRoot,
      signature: edit.signature,
      key: store?.key,
    })
    for (const hash of edit.delete) lists.deletes!.push({ n, canonical, hash })
    for (const record of edit.insert) {
      const single_key = findSingleValueKey(record)
      lists.inserts!.push({
        n,
        canonical,
        hash: record.hash,
        tag: parseTag(record.tag),
        data: record.data,
        single_key,
        replaces: single_key !== undefined && !edit.bypass,
        key: store?.key,
      })
    }
    if (store !== undefined)
      lists.stores!.push({
        n,
        canonical,
        key: store.key,
        data: store.data,
        unlocked: permission.mayUnlock,
        locked_future_writes_at: store.lockedFutureWritesAt,
        linked: store.linked,
      })
  })
  return JSON.stringify(lists)
}

const toOutcomes = (
  edits: ReadonlyArray<RecordEdit>,
  { changed, ends, refused, stored, versions }: Edited,
): ReadonlyArray<EditOutcome> => {
  const all = edits.map((_, i): EditOutcome => refused[i + 1] ?? { outcome: "unchanged" })
  changed.forEach((n, i) => {
    const { canonical } = edits[n - 1]!
    const store = stored[canonical]
    all[n - 1] = {
      outcome: "changed",
      version: versions[i]!,
      events: [{ channel: `emoji_id:${canonical}`, offset: ends[i]! }],
      ...(store !== undefined && { store }),
    }
  })
  return all
}

const maxEditsPerStatement = 32

/**
 * Permission, version, records, store entry, version number and event: one statement, for all who ask at the same time.
 * Never repeated by itself, as a second run would find its own records there already.
 */
export const makeEditRecords = Effect.map(Sql, (sql) => {
  const send = (edits: ReadonlyArray<RecordEdit>) =>
    sql
      .once<{ edited: Edited }>(
        (q) => q`select edit_batch(${toParameter(edits)}::text::jsonb, ${maxRecordsPerId}) as edited`,
      )
      .pipe(Effect.map(([row]) => toOutcomes(edits, row!.edited)))

  const editAlone = (edit: RecordEdit) =>
    send([edit]).pipe(
      Effect.map(([outcome]) => outcome!),
      Effect.catchTag("SqlRefused", (refused) =>
        refused.sqlstate === "EI003"
          ? Effect.succeed<EditOutcome>({ outcome: "crowded" })
          : Effect.die(refused),
      ),
    )

  return batchWrites({
    run: (edits: ReadonlyArray<RecordEdit>) =>
      send(edits).pipe(
        Effect.map((outcomes) => outcomes.map((outcome) => Effect.succeed(outcome))),
        // Nothing is done then. One of them has too many records, and nobody else suffers for it.
        Effect.catchTag("SqlRefused", () => Effect.succeed(edits.map(editAlone))),
      ),
    maxStatements: Math.ceil(sql.poolSize / 4),
    maxAsks: maxEditsPerStatement,
    // A second edit of an id is about what the first made of it.
    fits: ({ canonical }, others) => others.every((other) => other.canonical !== canonical),
  })
})
