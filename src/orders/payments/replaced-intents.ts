import { Context, Effect, Layer } from "effect"
import { OrderActors } from "../../../actors/order.ts"
import type { ReplacedIntent } from "../../../machines/orders/context.ts"
import { NotFound, type Unavailable } from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import { FailPoints } from "../../config/fail-points.ts"
import { storedOf } from "../cart/cart.ts"
import type { StoredOrder } from "../order-store.ts"
import { PaymentEvents } from "./apply-payment-event.ts"
import { Payments } from "./payments.ts"

/**
 * Cancels the intents that a change of the payment method replaced. The order stores them until their provider has
 * cancelled them, so a crash does not leave a second open payment: the sweep of deadlines calls this again.
 */
export class ReplacedIntents extends Context.Service<
  ReplacedIntents,
  {
    /**
     * Cancels the replaced intents of an order. If the buyer has already paid one, this payment is booked and can pay
     * the order. Returns the order afterwards. If a provider is unavailable, its intents stay in the order.
     */
    cancel(order: StoredOrder): Effect.Effect<StoredOrder, NotFound | Unavailable>
    /** Does the same for a stored order, and creates the intent of the new payment method if it is missing. */
    resume(orderId: string): Effect.Effect<void, NotFound | Unavailable>
  }
>()("directory/ReplacedIntents") {
  static readonly layer = Layer.effect(
    ReplacedIntents,
    Effect.gen(function* () {
      const actors = yield* OrderActors
      const payments = yield* Payments
      const events = yield* PaymentEvents
      const failPoints = yield* FailPoints

      const cancelOne = Effect.fnUntraced(function* (orderId: string, intent: ReplacedIntent) {
        const provider = payments.findAny(intent.provider)
        // Nothing can be cancelled at a provider that is no longer configured.
        if (provider !== undefined) {
          yield* provider.cancelIntent(intent, "replaced")
          // The captures are read after the cancellation, so none is missed. A disabled provider must not pay orders.
          const isEnabled = payments.find(intent.provider) !== undefined
          const captures = isEnabled ? yield* provider.capturesOf(intent, orderId) : []
          yield* Effect.forEach(captures, events.apply)
        }
        yield* actors
          .turn(orderId, (_, now) =>
            Effect.succeed({ type: "intent.cancelled", intentId: intent.intentId, at: isoTime(now) }),
          )
          .pipe(
            Effect.catchTags({
              // Another process has cancelled the intent.
              EventRefused: () => Effect.void,
              IdsTaken: Effect.die,
              LimitReached: Effect.die,
              UniqueConflict: Effect.die,
            }),
          )
      })

      const cancel = Effect.fnUntraced(function* (order: StoredOrder) {
        const { id, replaced = [] } = order.context
        if (replaced.length === 0) return order
        yield* Effect.forEach(replaced, (intent) =>
          Effect.catchTag(cancelOne(id, intent), "Unavailable", (cause) =>
            Effect.logWarning("cancellation of a replaced intent failed", intent.intentId, cause),
          ),
        )
        yield* failPoints.pass("checkout.after_replaced")
        const found = yield* actors.find(id)
        return found === undefined ? yield* new NotFound({}) : storedOf(found.snapshot)
      })

      return ReplacedIntents.of({
        cancel,
        resume: Effect.fnUntraced(function* (orderId) {
          const found = yield* actors.find(orderId)
          if (found === undefined) return
          yield* payments.ensureIntent(yield* cancel(storedOf(found.snapshot)))
        }),
      })
    }),
  )
}
