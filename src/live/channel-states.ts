import { Context, Effect, Layer } from "effect"
import { TransferActors } from "../../actors/transfer.ts"
import type { Unavailable } from "../../schema/errors.ts"
import type { TransferStatus } from "../../schema/transfers/transfer.ts"
import { Users } from "../accounts/user-store.ts"
import { LootboxLists } from "../lootboxes/lootbox-store.ts"
import { LootboxViews } from "../lootboxes/views.ts"
import { Interests } from "../market/interest-store.ts"
import { Storefront } from "../market/storefront.ts"
import { Carts } from "../orders/cart/cart.ts"
import { Orders } from "../orders/order-store.ts"
import { OrderViews } from "../orders/views.ts"
import type { Client, SqlPiece } from "../postgres/sql.ts"
import { displayTransfer, TransferLists } from "../transfers/transfer-store.ts"
import type { Channel, ChannelKind } from "./channels.ts"

/**
 * What a subscriber is shown before the events. `expression` is read in the very statement that reads the position.
 * `view` asks a service: the position is read around it, and its answer taken when nothing moved meanwhile.
 */
export type ChannelState =
  | { readonly expression: (channel: Channel, sql: Client) => SqlPiece }
  | { readonly view: (channel: Channel) => Effect.Effect<unknown, Unavailable> }

const shownAtMost = 200
const newestFirst = { dir: "Desc", limit: shownAtMost, page: 0, sort: "created_at" } as const

/** The state of each kind of channel: what the operation that reads the same thing answers. */
export class ChannelStates extends Context.Service<ChannelStates, { of(kind: ChannelKind): ChannelState }>()(
  "directory/ChannelStates",
) {
  static readonly layer = Layer.effect(
    ChannelStates,
    Effect.gen(function* () {
      const carts = yield* Carts
      const interests = yield* Interests
      const lootboxes = yield* LootboxLists
      const lootboxViews = yield* LootboxViews
      const orders = yield* Orders
      const orderViews = yield* OrderViews
      const storefront = yield* Storefront
      const transferActors = yield* TransferActors
      const transferLists = yield* TransferLists
      const users = yield* Users
      // The channel was opened for somebody it concerns: who has been deleted since sees nothing.
      const nothing = () => Effect.succeed(null)

      const states: Readonly<Record<ChannelKind, ChannelState>> = {
        cart: {
          view: ({ key }) =>
            carts.get(key).pipe(
              Effect.flatMap(({ order, user }) => orderViews.show(order, user)),
              Effect.catchTag("NotFound", nothing),
            ),
        },
        order: {
          view: Effect.fnUntraced(function* ({ key }) {
            const order = yield* orders.find(key)
            const user = order && (yield* users.find(order.context.userId))
            return order === undefined || user === undefined ? null : yield* orderViews.show(order, user)
          }),
        },
        transfer: {
          view: ({ key }) =>
            Effect.map(transferActors.find(key), (found) =>
              found === undefined
                ? null
                : displayTransfer({
                    status: found.snapshot.value as TransferStatus,
                    context: found.snapshot.context,
                  }),
            ),
        },
        transfers: {
          view: Effect.fnUntraced(function* ({ key }) {
            const outgoing = yield* transferLists.listOpen(key)
            const incoming = yield* transferLists.listIncoming(key, false)
            return { outgoing, incoming }
          }),
        },
        lootboxes: {
          view: Effect.fnUntraced(function* ({ key }) {
            const { rows } = yield* lootboxes.list({ ownerId: key }, newestFirst)
            return yield* lootboxViews.show({ userId: key, scopes: new Set() }, rows)
          }),
        },
        interests: { view: ({ key }) => Effect.map(interests.list(key, newestFirst), ({ data }) => data) },
        market: { view: () => Effect.map(storefront.recent, (result) => ({ result })) },
        session: {
          expression: ({ key }, sql) =>
            sql`select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'status', e.status,
                         'created_at', wire_time(e.created_at)) order by e.created_at desc), '[]')
                  from (select * from entity where kind = 'session' and owner_id = ${key}
                           and status not in ('Revoked', 'Expired')
                         order by created_at desc limit ${shownAtMost}) e`,
        },
        // Who pays by this must not see a state that is not the position's.
        emoji_id: { expression: ({ key }, sql) => sql`select live_lookup(${key})` },
      }
      return ChannelStates.of({ of: (kind) => states[kind] })
    }),
  )
}
