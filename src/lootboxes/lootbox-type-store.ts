import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import { NotFound, type Unavailable } from "../../schema/errors.ts"
import type { LootBoxTypeConfig, PublicLootBoxType } from "../../schema/lootboxes/lootbox.ts"
import { arrayList, type Page, type PageRequest } from "../../schema/paging.ts"
import type { Client } from "../postgres/client.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql } from "../postgres/sql.ts"

export interface NewLootboxType {
  readonly name: string
  readonly description: string
  readonly config: LootBoxTypeConfig
}

/** The list of types, oldest first. */
export const typeList = arrayList("lootbox_types", "Asc", ["time", "uuid"], 500)

/**
 * Stores the types from which lootboxes are generated. A type never changes, so the type of a lootbox always shows
 * how the lootbox was generated.
 */
export class LootboxTypes extends Context.Service<
  LootboxTypes,
  {
    create(
      type: NewLootboxType,
    ): Effect.Effect<Written<WriteOutcome<PublicLootBoxType, undefined>>, Unavailable>
    list(page: PageRequest): Effect.Effect<Page<PublicLootBoxType>, Unavailable>
    get(id: string): Effect.Effect<PublicLootBoxType, NotFound | Unavailable>
    findMany(ids: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, PublicLootBoxType>, Unavailable>
  }
>()("directory/LootboxTypes") {
  static readonly layer = Layer.effect(
    LootboxTypes,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages
      const columns = (q: Client) => q`id, name, description, config, created_at`

      const findMany = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
        if (ids.length === 0) return new Map<string, PublicLootBoxType>()
        const rows = yield* sql.rows<PublicLootBoxType>(
          (q) => q`select ${columns(q)} from lootbox_type where id = any(${ids as string[]})`,
        )
        return new Map(rows.map((row) => [row.id, row]))
      })

      return LootboxTypes.of({
        create: ({ config, description, name }) => {
          // If the connection breaks, the statement is sent again. It then returns the row that is stored already.
          const id = randomUUID()
          return sql.write.rows(
            (q) => q`insert into lootbox_type (id, name, description, config)
                     values (${id}, ${name}, ${description}, ${JSON.stringify(config)}::text::jsonb)
                     on conflict (id) do update set id = excluded.id returning ${columns(q)}`,
          )
        },
        list: (page) =>
          pages.read<PublicLootBoxType>(page, typeList.sorts.only, (q) => ({
            ranges: [q`lootbox_type where true`],
            keys: [q`created_at`, q`id`],
            item: q`select ${columns(q)} from lootbox_type where id = p.k1`,
          })),
        get: Effect.fnUntraced(function* (id) {
          const type = (yield* findMany([id])).get(id)
          return type ?? (yield* new NotFound({ error: "Lootbox type not found." }))
        }),
        findMany,
      })
    }),
  )
}
