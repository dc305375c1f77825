import { Effect, Layer, References } from "effect"
import { FailPoints } from "../config/fail-points.ts"
import { AppConfig } from "../config/read-config.ts"
import { masterKeys } from "../config/secret-keys.ts"
import { lootboxes } from "../lootboxes/layer.ts"
import { Market } from "../market/market.ts"
import { IntentSecrets } from "../orders/checkout/intent-secrets.ts"
import { OrderHistory } from "../orders/history.ts"
import { Orders } from "../orders/order-store.ts"
import { OrderViews } from "../orders/order-view.ts"
import { Payments } from "../orders/payments/payments.ts"
import { Sandbox } from "../orders/payments/sandbox.ts"
import { Stripe } from "../orders/payments/stripe.ts"
import { Refunds } from "../orders/refunds/refunds.ts"

/**
 * The services that read orders and refund them, with the payment providers. Only the commands of orders need them: at
 * its start, `Payments` logs which providers are missing, which is hidden here.
 */
const orderServices = Layer.unwrap(
  AppConfig.useSync((config) =>
    Layer.mergeAll(OrderHistory.layer, Refunds.layer).pipe(
      Layer.provideMerge(Payments.layer),
      Layer.provideMerge(OrderViews.layer),
      Layer.provideMerge(IntentSecrets.layer),
      Layer.provideMerge(Layer.mergeAll(Sandbox.layer({ keys: masterKeys(config) }), Stripe.layer)),
      Layer.provideMerge(Layer.mergeAll(Orders.layer, FailPoints.layer, lootboxes)),
      Layer.provideMerge(Market.layer),
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "Error")),
      // The keys were checked when the services of all commands were built.
      Layer.orDie,
    ),
  ),
)

export const withOrders = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, orderServices)
