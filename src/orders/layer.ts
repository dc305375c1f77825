import { Layer } from "effect"
import { FailPoints } from "../config/fail-points.ts"
import { OwnAddress } from "../config/own-address.ts"
import type { NamedKey } from "../crypto/key-ring.ts"
import { Carts } from "./cart/cart.ts"
import { Checkouts } from "./checkout/checkout.ts"
import { IntentSecrets } from "./checkout/intent-secrets.ts"
import { ItemPrices } from "./checkout/price-items.ts"
import { CodePubkeys } from "./codes/code-pubkey-store.ts"
import { Codes } from "./codes/code-store.ts"
import { Promotions } from "./codes/promotions.ts"
import { RandomCodes } from "./codes/random-codes.ts"
import { orderDeadlines } from "./deadlines.ts"
import { OrderHistory } from "./history.ts"
import { ledgerAudit } from "./ledger.ts"
import { Orders } from "./order-store.ts"
import { OrderViews } from "./order-view.ts"
import { PaymentEvents } from "./payments/apply-payment-event.ts"
import { detachPaymentMethods } from "./payments/detach-payment-method.ts"
import { PaymentMethods } from "./payments/payment-method-store.ts"
import { Payments } from "./payments/payments.ts"
import { ReplacedIntents } from "./payments/replaced-intents.ts"
import { Sandbox } from "./payments/sandbox.ts"
import { sandboxWebhooks } from "./payments/sandbox-webhooks.ts"
import { Stripe } from "./payments/stripe.ts"
import { Refunds } from "./refunds/refunds.ts"

/** Provides the services for carts, orders, payments and codes. */
export const orders = (keys: ReadonlyArray<NamedKey>) =>
  Layer.mergeAll(
    Checkouts.layer,
    Promotions.layer,
    RandomCodes.layer,
    OrderHistory.layer,
    orderDeadlines,
    sandboxWebhooks,
    ledgerAudit,
    detachPaymentMethods,
  ).pipe(
    Layer.provideMerge(ReplacedIntents.layer),
    Layer.provideMerge(PaymentEvents.layer),
    Layer.provideMerge(Refunds.layer),
    Layer.provideMerge(Layer.mergeAll(Payments.layer, Carts.layer, ItemPrices.layer)),
    Layer.provideMerge(OrderViews.layer),
    Layer.provideMerge(IntentSecrets.layer),
    Layer.provideMerge(Layer.mergeAll(Sandbox.layer({ keys }), Stripe.layer)),
    Layer.provideMerge(
      Layer.mergeAll(
        Orders.layer,
        Codes.layer,
        CodePubkeys.layer,
        PaymentMethods.layer,
        FailPoints.layer,
        OwnAddress.layer,
      ),
    ),
  )
