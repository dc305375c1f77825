import { Context, Effect, Layer } from "effect"
import { NotFound, type Unavailable } from "../../schema/errors.ts"
import type { LootBoxTypeConfig, PublicLootBoxType } from "../../schema/lootboxes/lootbox.ts"
import type { Piece } from "../../schema/paging.ts"
import { type Client, Sql } from "../postgres/sql.ts"
import { insertIdempotent, onConflictReuse } from "../turns/insert-idempotent.ts"

export const maxTypesListed = 500

/**
 * Stores the types from which lootboxes are generated. A type never changes, so the type of a lootbox always shows
 * how the lootbox was generated.
 */
export class LootboxTypes extends Context.Service<
  LootboxTypes,
  {
    /** Creates a type. A repeated call with the same operation key returns the type of the first call. */
    create(
      type: { readonly name: string; readonly description: string; readonly config: LootBoxTypeConfig },
      run: string,
    ): Effect.Effect<PublicLootBoxType, Unavailable>
    list(piece: Piece): Effect.Effect<ReadonlyArray<PublicLootBoxType>, Unavailable>
    get(id: string): Effect.Effect<PublicLootBoxType, NotFound | Unavailable>
    findMany(ids: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, PublicLootBoxType>, Unavailable>
  }
>()("directory/LootboxTypes") {
  static readonly layer = Layer.effect(
    LootboxTypes,
    Effect.gen(function* () {
      const sql = yield* Sql
      const columns = (q: Client) => q`id, name, description, config, created_at`

      const findMany = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
        if (ids.length === 0) return new Map<string, PublicLootBoxType>()
        const rows = yield* sql.rows<PublicLootBoxType>(
          (q) => q`select ${columns(q)} from lootbox_type where id = any(${ids as string[]})`,
        )
        return new Map(rows.map((row) => [row.id, row]))
      })

      return LootboxTypes.of({
        create: ({ config, description, name }, run) =>
          insertIdempotent(run, (id) =>
            sql.rows<PublicLootBoxType>(
              (q) => q`insert into lootbox_type (id, name, description, config)
                       values (${id}, ${name}, ${description}, ${JSON.stringify(config)}::text::jsonb)
                       ${onConflictReuse(q, "lootbox_type")} returning ${columns(q)}`,
            ),
          ),
        list: ({ limit, offset }) =>
          sql.rows<PublicLootBoxType>(
            (q) =>
              q`select ${columns(q)} from lootbox_type order by created_at, id limit ${limit} offset ${offset}`,
          ),
        get: Effect.fnUntraced(function* (id) {
          const type = (yield* findMany([id])).get(id)
          return type ?? (yield* new NotFound({ error: "Lootbox type not found." }))
        }),
        findMany,
      })
    }),
  )
}
