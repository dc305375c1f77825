import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import {
  findBadFileMembers,
  type LoadJsonResponse,
  maxStoredBytes,
  type StoreJsonBody,
  type StoreKey,
} from "../../schema/directory/json-store.ts"
import {
  BodyTooLarge,
  type Conflict,
  type Forbidden,
  fieldFault,
  type InvalidRequest,
  type NotFound,
  type Unavailable,
  type Unprocessable,
} from "../../schema/errors.ts"
import { Sql } from "../postgres/sql.ts"
import { checkOutcome, idAbsent } from "./edit-outcome.ts"
import { IdChanges } from "./id-changes.ts"
import { checkRecords, keepLastValues } from "./record-inputs.ts"
import { type EditResult, makeEditRecords } from "./record-store.ts"
import type { WritePermission } from "./write-permission.ts"

type StoreProblem =
  | BodyTooLarge
  | Conflict
  | Forbidden
  | InvalidRequest
  | NotFound
  | Unprocessable
  | Unavailable

interface EntryRow {
  readonly key: string
  readonly data: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly is_locked: boolean
  readonly locked_future_writes_at: string | null
}

const toEntry = (row: EntryRow): LoadJsonResponse => ({
  created_at: row.created_at,
  updated_at: row.updated_at,
  data: row.data === null ? {} : JSON.parse(row.data),
  is_locked: row.is_locked,
  ...(row.locked_future_writes_at !== null && { locked_future_writes_at: row.locked_future_writes_at }),
})

/** Stores JSON data of an id, one value per store key. The data is stored in the service's database, not on chain. */
export class JsonStore extends Context.Service<
  JsonStore,
  {
    /**
     * Returns one entry per key. The entry of a key without data has an empty object, and both of its times are the
     * time of the id's registration.
     */
    load(
      id: EmojiId,
      keys: ReadonlyArray<StoreKey>,
    ): Effect.Effect<ReadonlyMap<StoreKey, LoadJsonResponse>, NotFound | Unavailable>
    /** Stores the data. The row of the result has the other members of the entry. */
    store(
      id: EmojiId,
      key: StoreKey,
      permission: WritePermission,
      body: StoreJsonBody,
    ): Effect.Effect<Written<EditResult>, StoreProblem>
  }
>()("directory/JsonStore") {
  static readonly layer = Layer.effect(
    JsonStore,
    Effect.gen(function* () {
      const sql = yield* Sql
      const changes = yield* IdChanges
      const editRecords = yield* makeEditRecords

      return JsonStore.of({
        load: Effect.fnUntraced(function* (id, keys) {
          const rows = yield* sql.rows<EntryRow>(
            (q) => q`select k.key, j.data, coalesce(j.created_at, e.registered_at) as created_at,
                            coalesce(j.updated_at, e.registered_at) as updated_at,
                            coalesce(j.locked_future_writes_at <= now(), false) as is_locked, j.locked_future_writes_at
                       from emoji_id e cross join unnest(${keys as StoreKey[]}::text[]) as k(key)
                       left join json_store j on j.canonical = e.canonical and j.key = k.key
                      where e.canonical = ${id.canonical}`,
          )
          if (rows.length === 0) return yield* idAbsent()
          return new Map(rows.map((row) => [row.key as StoreKey, toEntry(row)]))
        }),

        store: Effect.fnUntraced(function* (id, key, permission, body) {
          const data = JSON.stringify(body.data)
          if (Buffer.byteLength(data) > maxStoredBytes) {
            return yield* new BodyTooLarge({ error: `The data must have at most ${maxStoredBytes} bytes.` })
          }
          const bad = key === "VisualizerFileLocations" ? findBadFileMembers(body.data) : []
          if (bad.length > 0) {
            return yield* fieldFault("data", "invalid_url", `Expected http or https URLs: ${bad.join(", ")}.`)
          }
          const linked = yield* checkRecords(id, body.linked_tags ?? [], "linked_tags", permission)
          const edit = editRecords({
            canonical: id.canonical,
            permission,
            insert: keepLastValues(linked),
            delete: [],
            bypass: false,
            store: {
              key,
              data,
              lockedFutureWritesAt: body.locked_future_writes_at ?? undefined,
              linked: body.linked_tags != null,
            },
          })
          const outcome = yield* checkOutcome(yield* changes.commit(id.canonical, edit))
          return outcome.outcome === "changed" ? outcome.written : yield* idAbsent()
        }),
      })
    }),
  )
}
