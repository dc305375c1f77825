import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { LootBoxStatus } from "../../schema/lootboxes/lootbox.ts"
import type { LootboxContext } from "../../schema/lootboxes/lootbox-snapshot.ts"
import type { PageRequest } from "../../schema/paging.ts"
import { Sql } from "../postgres/sql.ts"
import { pageOfEntities } from "../turns/entity-pages.ts"

export interface LootboxRow {
  readonly status: LootBoxStatus
  readonly context: LootboxContext
}

export const lootboxSorts = ["created_at", "updated_at", "status"] as const
export interface LootboxFilter {
  readonly status?: LootBoxStatus | undefined
  readonly ownerId?: string | undefined
  /** If set, only lootboxes that this user may see are listed: those that the user owns, and those on sale. */
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
        list: ({ ownerId, status, visibleTo }, page) =>
          pageOfEntities<LootboxRow>(sql, "lootbox", page, (q) => ({
            wanted: [
              q`status <> 'Deleted'`,
              ...(status === undefined ? [] : [q`status = ${status}`]),
              ...(ownerId === undefined ? [] : [q`owner_id = ${ownerId}`]),
              ...(visibleTo === undefined ? [] : [q`(owner_id = ${visibleTo} or status = 'Available')`]),
            ],
            sortedBy: { created_at: q`created_at`, updated_at: q`updated_at`, status: q`status` }[page.sort],
          })),
      })
    }),
  )
}
