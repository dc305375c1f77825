import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { LootBoxStatus } from "../../schema/lootboxes/lootbox.ts"
import type { LootboxContext } from "../../schema/lootboxes/lootbox-snapshot.ts"
import { type CountedPage, type PageRequest, pagedList } from "../../schema/paging.ts"
import { makePages } from "../postgres/pages.ts"
import { entityItem, statusRanges } from "../turns/entity-pages.ts"

export interface LootboxRow {
  readonly status: LootBoxStatus
  readonly context: LootboxContext
}

export const lootboxList = pagedList("lootboxes", {
  created_at: ["time", "uuid"],
  updated_at: ["time", "uuid"],
  status: ["text", "time", "uuid"],
})
type LootboxSort = keyof typeof lootboxList.sorts

export interface LootboxFilter {
  readonly status?: LootBoxStatus | undefined
  readonly ownerId?: string | undefined
  /** If set, only lootboxes that this user may see are listed: those that the user owns, and those on sale. */
  readonly visibleTo?: string | undefined
}

const onSale = "Available"

export class LootboxLists extends Context.Service<
  LootboxLists,
  {
    /** Lists lootboxes. Deleted ones are not listed. */
    list(
      filter: LootboxFilter,
      page: PageRequest<LootboxSort>,
    ): Effect.Effect<CountedPage<LootboxRow>, Unavailable>
  }
>()("directory/LootboxLists") {
  static readonly layer = Layer.effect(
    LootboxLists,
    Effect.gen(function* () {
      const pages = yield* makePages
      return LootboxLists.of({
        list: ({ ownerId, status, visibleTo }, page) =>
          pages.readCounted<LootboxRow>(
            page,
            lootboxList.sorts[page.sort],
            ["lootboxes", status, ownerId, visibleTo],
            (q) => {
              const statuses = LootBoxStatus.literals.filter((one) => status === undefined || one === status)
              const isOf = (owner: string | undefined) =>
                owner === undefined ? undefined : q`owner_id = ${owner}`
              /** Users see all lootboxes on sale, but only their own ones in another status. */
              const ranges = statuses.flatMap((one) => {
                const isOwners = isOf(ownerId)
                const isSeen = one === onSale ? undefined : isOf(visibleTo)
                return statusRanges(
                  q,
                  "lootbox",
                  [one],
                  isOwners && isSeen ? q`${isOwners} and ${isSeen}` : (isOwners ?? isSeen),
                )
              })
              return {
                ranges,
                keys: {
                  created_at: [q`created_at`, q`id`],
                  updated_at: [q`updated_at`, q`id`],
                  status: [q`status`, q`created_at`, q`id`],
                }[page.sort],
                item: entityItem(q, "lootbox", page.sort === "status" ? q`p.k2` : q`p.k1`),
              }
            },
          ),
      })
    }),
  )
}
