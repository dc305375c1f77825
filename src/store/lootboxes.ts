import { Context, Effect, Layer } from "effect"
import type { LootboxContext } from "../../machines/lootbox.ts"
import type { Unavailable } from "../../schema/errors.ts"
import type { LootBoxStatus } from "../../schema/lootbox.ts"
import type { PageRequest } from "../../schema/paging.ts"
import { Sql } from "./sql.ts"

export interface LootboxRow {
  readonly status: LootBoxStatus
  readonly context: LootboxContext
}

export const lootboxSorts = ["created_at", "updated_at", "status"] as const
export interface LootboxFilter {
  readonly status?: LootBoxStatus | undefined
  readonly ownerId?: string | undefined
  /** Leaves out what this user may not see: drafts, and boxes of others. */
  readonly visibleTo?: string | undefined
}

export class LootboxLists extends Context.Service<
  LootboxLists,
  {
    list(
      filter: LootboxFilter,
      page: PageRequest & { readonly sort: (typeof lootboxSorts)[number] },
    ): Effect.Effect<{ readonly rows: ReadonlyArray<LootboxRow>; readonly total: number }, Unavailable>
  }
>()("directory/LootboxLists") {
  static readonly layer = Layer.effect(
    LootboxLists,
    Effect.gen(function* () {
      const sql = yield* Sql
      return LootboxLists.of({
        list: Effect.fnUntraced(function* ({ ownerId, status, visibleTo }, { dir, limit, page, sort }) {
          const [found] = yield* sql.rows<{ rows: ReadonlyArray<LootboxRow>; total: number }>((q) => {
            const direction = dir === "Asc" ? q`asc` : q`desc`
            const key = { created_at: q`created_at`, updated_at: q`updated_at`, status: q`status` }[sort]
            return q`with hit as (
                       select id, status, created_at, updated_at, state->'context' as context from entity
                        where kind = 'lootbox' and status <> 'Deleted'
                          and (${status ?? null}::text is null or status = ${status ?? null})
                          and (${ownerId ?? null}::uuid is null or owner_id = ${ownerId ?? null})
                          and (${visibleTo ?? null}::uuid is null or owner_id = ${visibleTo ?? null}
                               or status = 'Available')
                     ), page as (
                       select status, context, row_number() over (order by ${key} ${direction}, id) as n from hit
                        order by n limit ${limit} offset ${limit * page}
                     )
                     select (select count(*) from hit) as total,
                            (select coalesce(jsonb_agg(jsonb_build_object('status', status, 'context', context) order by n), '[]')
                               from page) as rows`
          })
          return found ?? { rows: [], total: 0 }
        }),
      })
    }),
  )
}
