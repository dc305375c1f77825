import { Context, Effect, Layer } from "effect"
import { atMostOnce, unchanged } from "../../actors/operation.ts"
import { receipt } from "../../machines/orders/effects.ts"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import { EventRefused, NotFound, type Unavailable } from "../../schema/errors.ts"
import type { DisplayOrder } from "../../schema/orders/order.ts"
import { Users } from "../accounts/user-store.ts"
import type { Principal } from "../http/principal.ts"
import { Outbox } from "../turns/outbox.ts"
import { Orders, type StoredOrder } from "./order-store.ts"
import { OrderViews } from "./order-view.ts"

const absent = new NotFound({ error: "Order not found." })

/**
 * The address for the receipt: the current address of the buyer if it is verified, otherwise the address that the
 * checkout stored. Undefined if the buyer has no address now, for example after the deletion of the account.
 */
const addressOf = ({ context }: StoredOrder, { email, email_verified_at }: DisplayUser) =>
  email === undefined || email_verified_at !== undefined ? email : context.checkout?.email

/** Reads single orders for their buyers and for administrators. */
export class OrderHistory extends Context.Service<
  OrderHistory,
  {
    /** Returns an order of the caller. With the scope `order:read` it returns the order of any user. */
    get(principal: Principal, orderId: string): Effect.Effect<StoredOrder, NotFound | Unavailable>
    showTo(principal: Principal, orderId: string): Effect.Effect<DisplayOrder, NotFound | Unavailable>
    show(order: StoredOrder): Effect.Effect<DisplayOrder, NotFound | Unavailable>
    showById(orderId: string): Effect.Effect<DisplayOrder, NotFound | Unavailable>
    /** Sends the receipt of a paid order again. Does nothing if the buyer has no address. */
    resendReceipt(orderId: string): Effect.Effect<StoredOrder, NotFound | EventRefused | Unavailable>
  }
>()("directory/OrderHistory") {
  static readonly layer = Layer.effect(
    OrderHistory,
    Effect.gen(function* () {
      const orders = yield* Orders
      const users = yield* Users
      const views = yield* OrderViews
      const outbox = yield* Outbox

      const find = Effect.fnUntraced(function* (orderId: string) {
        return (yield* orders.find(orderId)) ?? (yield* absent)
      })
      const show = Effect.fnUntraced(function* (order: StoredOrder) {
        return yield* views.show(order, yield* users.get(order.context.userId))
      })

      const mayRead = (principal: Principal, { context }: StoredOrder) =>
        context.userId === principal.userId || principal.scopes.has("order:read")

      const putReceipt = Effect.fnUntraced(function* (orderId: string) {
        const order = yield* find(orderId)
        if (order.status !== "Paid")
          return yield* new EventRefused({
            error: `The order is ${order.status}. Only a paid order has a receipt.`,
            details: { state: order.status, allowed: [] },
          })
        const to = addressOf(order, yield* users.get(order.context.userId))
        const [mail] = to === undefined ? [] : receipt(order.context, to)
        return mail === undefined ? unchanged({ rows: [], keep: order }) : yield* outbox.put(mail, order)
      })

      return OrderHistory.of({
        get: Effect.fnUntraced(function* (principal, orderId) {
          const order = yield* find(orderId)
          return mayRead(principal, order) ? order : yield* absent
        }),
        showTo: Effect.fnUntraced(function* (principal, orderId) {
          const found = yield* orders.findWithUser(orderId)
          if (found === undefined || !mayRead(principal, found.order)) return yield* absent
          return yield* views.show(found.order, found.user)
        }),
        show,
        showById: (orderId) => Effect.flatMap(find(orderId), show),
        resendReceipt: (orderId) => Effect.map(atMostOnce(putReceipt(orderId)), ({ keep }) => keep),
      })
    }),
  )
}
