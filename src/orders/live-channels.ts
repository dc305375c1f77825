import { Effect } from "effect"
import { Users } from "../accounts/user-store.ts"
import type { SubjectChannels } from "../live/channel-states.ts"
import { Carts } from "./cart/cart.ts"
import { Orders } from "./order-store.ts"
import { OrderViews } from "./order-view.ts"

/**
 * Reads the state of the channels `cart` and `order:{id}`. The state is null if the order or its user does not exist.
 */
export const orderChannels = Effect.gen(function* () {
  const carts = yield* Carts
  const orders = yield* Orders
  const views = yield* OrderViews
  const users = yield* Users
  const channels: SubjectChannels<"cart" | "order"> = {
    cart: {
      view: ({ key }) =>
        carts.get(key).pipe(
          Effect.flatMap(({ order, user }) => views.show(order, user)),
          Effect.catchTag("NotFound", () => Effect.succeed(null)),
        ),
    },
    order: {
      view: Effect.fnUntraced(function* ({ key }) {
        const order = yield* orders.find(key)
        const user = order && (yield* users.find(order.context.userId))
        return order === undefined || user === undefined ? null : yield* views.show(order, user)
      }),
    },
  }
  return channels
})
