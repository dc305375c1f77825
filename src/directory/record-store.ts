import { Effect } from "effect"
import { CurrentOperation, Written } from "../../actors/operation.ts"
import type { ChannelPosition } from "../../actors/ports.ts"
import { maxRecordsPerId } from "../../schema/directory/edit-request.ts"
import type { DirectoryRecord } from "../../schema/directory/records/record.ts"
import { findSingleValueKey } from "../../schema/directory/records/record-selection.ts"
import { parseTag } from "../../schema/directory/records/record-tag.ts"
import { Unavailable } from "../../schema/errors.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { Sql, type Statement } from "../postgres/sql.ts"
import { Metrics } from "../telemetry/metrics.ts"
import { batchWrites } from "../turns/batch-writes.ts"
import { recordBatches } from "../turns/turn-metrics.ts"
import type { WritePermission } from "./write-permission.ts"

/** The members of a stored JSON entry, without its data. */
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
  /** The version of the id that the edit is based on. If the id has another version now, the outcome is `stale`. */
  readonly expected?: number
  readonly merkleRoot?: string
  readonly signature?: string
  readonly store?: {
    readonly key: string
    readonly data: string
    readonly lockedFutureWritesAt: string | undefined
    /** Whether the inserted records replace all linked records of the store key. */
    readonly linked: boolean
  }
}

/** What an edit stores with the Idempotency-Key of its request. It has no row if the edit changed nothing. */
export type EditResult = WriteOutcome<{ readonly version: number; readonly store?: StoredFacts }, undefined>

export type EditOutcome =
  | {
      readonly outcome: "changed"
      readonly written: Written<EditResult>
      readonly events: ReadonlyArray<ChannelPosition>
    }
  | { readonly outcome: "unchanged" | "absent" | "forbidden" | "stale" | "crowded" }
  | { readonly outcome: "duplicate" | "secured" | "unknown"; readonly hashes: ReadonlyArray<string> }
  | { readonly outcome: "locked"; readonly at: string }

/** The result of the SQL function `edit_batch`. The edits of a batch are numbered from 1. */
interface Edited {
  readonly refused: Readonly<Record<number, EditOutcome>>
  /**
   * The numbers of the edits that changed something. `versions` and `ends` have the new version and the new channel
   * offset of each of them, in the same order.
   */
  readonly changed: ReadonlyArray<number>
  readonly versions: ReadonlyArray<number>
  readonly ends: ReadonlyArray<number>
  /** The stored JSON entries that were written, by canonical id. */
  readonly stored: Readonly<Record<string, StoredFacts>>
}

/** An edit, and the Idempotency-Key of the request that makes it. */
interface KeyedEdit extends RecordEdit {
  readonly key?: { readonly caller: string; readonly key: string; readonly run: string }
}

/** Makes the parameter of the SQL function `edit_batch`: one list per kind of row. */
const toParameter = (edits: ReadonlyArray<KeyedEdit>): string => {
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
    for (const hash of edit.delete)
      lists.deletes!.push({ n, canonical, hash, secure: permission.mayUpdateSecureData })
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
        unlocked: permission.mayUpdateSecureData,
        locked_future_writes_at: store.lockedFutureWritesAt,
        linked: store.linked,
      })
    if (edit.key !== undefined) {
      lists.keys ??= []
      lists.keys.push({ n, ...edit.key })
    }
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
    const row = { version: versions[i]!, ...(store !== undefined && { store }) }
    all[n - 1] = {
      outcome: "changed",
      written: new Written({ rows: [row], keep: undefined }),
      events: [{ channel: `emoji_id:${canonical}`, offset: ends[i]! }],
    }
  })
  return all
}

/** The result of the SQL function `edit_records`. */
type EditedAlone =
  | { readonly outcome: "changed"; readonly version: number; readonly end: number }
  | Exclude<EditOutcome, { readonly outcome: "changed" }>

/** The statement for one edit of records without a store entry. */
const editOne =
  ({ bypass, canonical, insert, key, permission, ...edit }: KeyedEdit): Statement =>
  (q) => {
    const singleKeys = insert.map((record) => findSingleValueKey(record) ?? null)
    const replaced = bypass ? [] : singleKeys.filter((single) => single !== null)
    return q`select edit_records(
      ${canonical}, ${permission.userId}, ${[...permission.organizations]}::uuid[], ${permission.isAdmin}::boolean,
      ${permission.mayUpdateSecureData}::boolean, ${edit.expected ?? null}::bigint, ${edit.merkleRoot ?? null},
      ${edit.signature ?? null}, ${[...edit.delete]}::text[], ${insert.map(({ hash }) => hash)}::text[],
      ${insert.map(({ tag }) => parseTag(tag) ?? null)}::int[], ${insert.map(({ data }) => data)}::text[],
      ${singleKeys}::text[], ${replaced}::text[], ${key === undefined ? null : JSON.stringify(key)}::text::jsonb,
      ${maxRecordsPerId}) as edited`
  }

const toOutcome = ({ canonical }: RecordEdit, edited: EditedAlone): EditOutcome =>
  edited.outcome === "changed"
    ? {
        outcome: "changed",
        written: new Written({ rows: [{ version: edited.version }], keep: undefined }),
        events: [{ channel: `emoji_id:${canonical}`, offset: edited.end }],
      }
    : edited

const maxEditsPerStatement = 32

/**
 * Makes a function that edits records. One statement runs all edits that arrive at the same time. It checks permissions
 * and versions, and writes records, store entries, versions and events. An edit that changes something is committed
 * together with the Idempotency-Key of its request. The statement is never retried automatically: a second run would
 * report the records of the first run as duplicates.
 */
export const makeEditRecords = Effect.gen(function* () {
  const sql = yield* Sql
  const metrics = yield* Metrics
  const send = (edits: ReadonlyArray<KeyedEdit>) => {
    const [first] = edits
    // The function for one edit takes half of the time of the function for many.
    if (first !== undefined && edits.length === 1 && first.store === undefined) {
      return sql
        .once<{ edited: EditedAlone }>(editOne(first))
        .pipe(Effect.map(([row]) => [toOutcome(first, row!.edited)]))
    }
    return sql
      .once<{ edited: Edited }>(
        (q) => q`select edit_batch(${toParameter(edits)}::text::jsonb, ${maxRecordsPerId}) as edited`,
      )
      .pipe(Effect.map(([row]) => toOutcomes(edits, row!.edited)))
  }

  const editAlone = (edit: KeyedEdit) =>
    send([edit]).pipe(
      Effect.map(([outcome]) => outcome!),
      Effect.catchTag("SqlRefused", (refused): Effect.Effect<EditOutcome, Unavailable> => {
        switch (refused.sqlstate) {
          case "EI003":
            return Effect.succeed({ outcome: "crowded" })
          case "EI004":
            return Effect.fail(
              new Unavailable({
                error: "Another attempt of this request is running. Retry later.",
                retryAfterSeconds: 1,
              }),
            )
          default:
            return Effect.die(refused)
        }
      }),
    )

  const editBatched = batchWrites({
    run: (edits: ReadonlyArray<KeyedEdit>) =>
      send(edits).pipe(
        Effect.map((outcomes) => outcomes.map((outcome) => Effect.succeed(outcome))),
        // One of the edits inserts too many records or has lost its Idempotency-Key, so the statement failed and changed
        // nothing. Each edit is now sent alone, so that the other edits succeed.
        Effect.catchTag("SqlRefused", () => Effect.succeed(edits.map(editAlone))),
      ),
    maxStatements: Math.ceil(sql.poolSize / 4),
    maxAsks: maxEditsPerStatement,
    onStatement: recordBatches(metrics, "record_edits"),
    // A batch has at most one edit per id, because a second edit of the same id must see the result of the first.
    fits: ({ canonical }, others) => others.every((other) => other.canonical !== canonical),
  })

  return (edit: RecordEdit) =>
    Effect.flatMapEager(CurrentOperation, (operation) => {
      if (operation === undefined) return editBatched(edit)
      const { caller, key, run } = operation
      return editBatched({ ...edit, key: { caller, key, run } })
    })
})
