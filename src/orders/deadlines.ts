import { Effect, Layer } from "effect"
import { Deadlines, momentOf } from "../../actors/deadlines.ts"
import { OrderActors } from "../../actors/order.ts"
import { expiryOf, pendingDueAt } from "../../machines/orders/deadlines.ts"
import { isoTime } from "../../schema/iso-time.ts"
import { Parties } from "../accounts/party-store.ts"
import { Lootboxes } from "../lootboxes/lootboxes.ts"
import { Payments } from "./payments/payments.ts"
import { ReplacedIntents } from "./payments/replaced-intents.ts"
import { Refunds } from "./refunds/refunds.ts"

/**
 * Handles the deadlines of orders: expires unpaid orders, cancels replaced payment intents, requests pending refunds
 * again, and delivers lootboxes of orders that an older release paid.
 */
export const orderDeadlines = Layer.effectDiscard(
  Effect.gen(function* () {
    const deadlines = yield* Deadlines
    const actors = yield* OrderActors
    const payments = yield* Payments
    const refunds = yield* Refunds
    const replacedIntents = yield* ReplacedIntents
    const lootboxes = yield* Lootboxes
    const parties = yield* Parties

    const expireHold = Effect.fnUntraced(function* (id: string) {
      const { snapshot } = yield* actors.turn(id, ({ snapshot: { context, value } }, now) =>
        Effect.gen(function* () {
          const moment = momentOf(value === "PendingPayment" ? pendingDueAt(context) : now, now)
          const at = isoTime(moment)
          // A deleted account gets no mail and no new cart, so its order is cancelled instead of expired.
          const isExpired = value === "PendingPayment" && moment >= expiryOf(context)
          const type = isExpired && (yield* parties.isGone(context.userId)) ? "cancel" : "deadline"
          return { type, at } as const
        }),
      )
      if (snapshot.value !== "Cancelled") return
      yield* deadlines.aside(`abandon ${id}`, payments.abandon(snapshot.context.intent))
    })

    const deliver = Effect.fnUntraced(function* (orderId: string, ownerId: string, lootboxId: string) {
      yield* lootboxes.sell(lootboxId, orderId, ownerId)
      yield* actors.turn(orderId, (_, now) =>
        Effect.succeed({ type: "delivered", lootboxId, at: isoTime(now) }),
      )
    })

    deadlines.register(
      "order",
      Effect.fnUntraced(function* (id) {
        const found = yield* actors.find(id)
        if (found === undefined) return
        const { context, value } = found.snapshot
        if (context.replaced !== undefined && context.replaced.length > 0)
          yield* deadlines.aside(`replaced ${id}`, replacedIntents.resume(id))
        if (value === "PendingPayment") return yield* expireHold(id)
        // A failed delivery must not stop the refunds, and a payment provider that is unavailable for days must not
        // stop the deliveries.
        const delivered = yield* Effect.exit(
          Effect.forEach(context.undelivered, (box) => deliver(id, context.userId, box), { discard: true }),
        )
        yield* deadlines.aside(`refund ${id}`, refunds.resume(id))
        yield* delivered
      }),
    )
  }),
)
