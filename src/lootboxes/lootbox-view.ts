import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { PublicLootBox } from "../../schema/lootboxes/lootbox.ts"
import { priceInCents } from "../../schema/market/price-curve.ts"
import { Users } from "../accounts/user-store.ts"
import type { Principal } from "../http/principal.ts"
import { Market } from "../market/market.ts"
import type { LootboxRow } from "./lootbox-store.ts"
import { LootboxTypes } from "./lootbox-type-store.ts"

type Viewer = Pick<Principal, "userId" | "scopes">

const distinct = (ids: ReadonlyArray<string | null>): ReadonlyArray<string> => [
  ...new Set(ids.filter((id) => id !== null)),
]
const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

export const maySeeAllBoxes = ({ scopes }: Viewer): boolean => scopes.has("adminLootbox:read")

/** Whether the viewer may see a lootbox. Administrators see all; users see those they own and those on sale. */
export const maySeeBox = (viewer: Viewer, { context, status }: LootboxRow): boolean =>
  maySeeAllBoxes(viewer) || context.ownerId === viewer.userId || status === "Available"

const maySeeContents = (viewer: Viewer, { context, status }: LootboxRow): boolean =>
  maySeeAllBoxes(viewer) || (status === "Used" && context.ownerId === viewer.userId)

/** Builds the lootboxes of responses. The contents are included only if the viewer may see them. */
export class LootboxViews extends Context.Service<
  LootboxViews,
  {
    show(
      viewer: Viewer,
      rows: ReadonlyArray<LootboxRow>,
    ): Effect.Effect<ReadonlyArray<PublicLootBox>, Unavailable>
    /** Returns the price of a lootbox: the sum of the current prices of its ids, in US cents. */
    priceInCents(row: LootboxRow): Effect.Effect<number, Unavailable>
  }
>()("directory/LootboxViews") {
  static readonly layer = Layer.effect(
    LootboxViews,
    Effect.gen(function* () {
      const types = yield* LootboxTypes
      const users = yield* Users
      const market = yield* Market
      const points = Effect.map(market.parameters, (parameters) => parameters.points)

      return LootboxViews.of({
        show: Effect.fnUntraced(function* (viewer, rows) {
          const current = yield* points
          const typeById = yield* types.findMany(distinct(rows.map(({ context }) => context.typeId)))
          const ownerById = yield* users.findMany(distinct(rows.map(({ context }) => context.ownerId)))
          return rows.map((row): PublicLootBox => {
            const { createdAt, id, ids, openedAt, ownerId, typeId } = row.context
            const scores = ids.map(({ score }) => score)
            const prices = scores.map((score) => priceInCents(score, current))
            const type = typeId === null ? undefined : typeById.get(typeId)
            const owner = ownerId === null ? undefined : ownerById.get(ownerId)
            return {
              id,
              created_at: createdAt,
              status: row.status,
              prices,
              scores,
              average_rhythm_score: scores.length === 0 ? 0 : sum(scores) / scores.length,
              total_value: sum(prices),
              yats: maySeeContents(viewer, row) ? ids.map(({ canonical }) => canonical) : [],
              ...(typeId === null ? {} : { lootbox_type_id: typeId }),
              ...(type === undefined ? {} : { lootbox_type: type }),
              ...(ownerId === null ? {} : { owner_id: ownerId }),
              ...(owner === undefined ? {} : { owner }),
              ...(openedAt === null ? {} : { opened_at: openedAt }),
            }
          })
        }),
        priceInCents: ({ context }) =>
          Effect.map(points, (current) => sum(context.ids.map(({ score }) => priceInCents(score, current)))),
      })
    }),
  )
}
