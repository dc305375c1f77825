import { Layer } from "effect"
import { OwnAddress } from "../own-address.ts"
import { Sandbox } from "../providers/payments/sandbox.ts"
import { sandboxWebhooks } from "../providers/payments/sandbox-webhooks.ts"
import { Stripe } from "../providers/payments/stripe.ts"
import { Carts } from "../services/carts.ts"
import { Checkouts } from "../services/checkouts.ts"
import { Codes } from "../services/codes.ts"
import { FailPoints } from "../services/fail-points.ts"
import { IntentSecrets } from "../services/intent-secrets.ts"
import type { NamedKey } from "../services/key-ring.ts"
import { ledgerAudit } from "../services/ledger.ts"
import { methodForgetting } from "../services/method-forgetting.ts"
import { orderDeadlines } from "../services/order-deadlines.ts"
import { OrderHistory } from "../services/order-history.ts"
import { OrderViews } from "../services/order-views.ts"
import { Payments } from "../services/payments.ts"
import { Promotions } from "../services/promotions.ts"
import { Quotes } from "../services/quotes.ts"
import { RandomCodes } from "../services/random-codes.ts"
import { Refunds } from "../services/refunds.ts"
import { Settlements } from "../services/settlements.ts"
import { CodePubkeys } from "../store/code-pubkeys.ts"
import { Orders } from "../store/orders.ts"
import { PaymentMethods } from "../store/payment-methods.ts"

/** Carts, orders, payments and codes. */
export const sales = (keys: ReadonlyArray<NamedKey>) =>
  Layer.mergeAll(
    Checkouts.layer,
    Promotions.layer,
    RandomCodes.layer,
    Settlements.layer,
    OrderHistory.layer,
    orderDeadlines,
    sandboxWebhooks,
    ledgerAudit,
    methodForgetting,
  ).pipe(
    Layer.provideMerge(Refunds.layer),
    Layer.provideMerge(Layer.mergeAll(Payments.layer, Carts.layer, Quotes.layer)),
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
