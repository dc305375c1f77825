import { Context, Effect, Layer, type Types } from "effect"
import { allowedOrderEvents } from "../../actors/order.ts"
import type { Intent, OrderContext, OrderItem } from "../../machines/orders/context.ts"
import { orderNumber } from "../../machines/orders/effects.ts"
import {
  dueCents,
  feeCents,
  miscRefundedCents,
  overpaidCents,
  payableItems,
  refundableCents,
  refundedCents,
  totalCents,
} from "../../machines/orders/money.ts"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import type { Unavailable } from "../../schema/errors.ts"
import {
  type DisplayOrder,
  type DisplayOrderItem,
  type OrderAction,
  orderActions,
} from "../../schema/orders/order.ts"
import { Users } from "../accounts/user-store.ts"
import { AppConfig } from "../config/read-config.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { IntentSecrets } from "./checkout/intent-secrets.ts"
import { claimsToSee, type Mark, Orders, type Seen, type StoredOrder } from "./order-store.ts"
import { Sandbox } from "./payments/sandbox.ts"

const isAction = (name: string): name is OrderAction => orderActions.includes(name as OrderAction)

/**
 * Converts event names to the actions that responses show. The action is the part of the event name before the dot.
 */
const publicActions = (events: ReadonlyArray<string>): ReadonlyArray<OrderAction> => [
  ...new Set(events.map((event) => event.split(".")[0] ?? "").filter(isAction)),
]

const allowedByStatus = {
  Draft: publicActions(allowedOrderEvents("Draft")),
  PendingPayment: publicActions(allowedOrderEvents("PendingPayment")),
  Paid: publicActions(allowedOrderEvents("Paid")),
  Cancelled: publicActions(allowedOrderEvents("Cancelled")),
}

/** The actions that an order allows. `refund` is included only if some of the money can still be refunded. */
export const allowedActions = ({ context, status }: StoredOrder): ReadonlyArray<OrderAction> =>
  allowedByStatus[status].filter((action) => action !== "refund" || refundableCents(context) > 0)

const unmarked: ReadonlyMap<string, Mark> = new Map()

const showItem = (
  order: OrderContext,
  item: OrderItem,
  mark: Mark | undefined,
): typeof DisplayOrderItem.Encoded => {
  const shown: Types.Mutable<typeof DisplayOrderItem.Encoded> = {
    id: item.id,
    order_id: order.id,
    item_type: item.type,
    quantity: 1,
    refunded_quantity: item.refunded ? 1 : 0,
    unit_price_in_cents: item.cents,
    client_fee_in_cents: feeCents(item.cents, order.checkout?.fees?.clientBasisPoints ?? 0),
    company_fee_in_cents: feeCents(item.cents, order.checkout?.fees?.companyBasisPoints ?? 0),
    created_at: item.createdAt,
    updated_at: item.updatedAt,
  }
  if (item.codeId !== undefined) shown.code_id = item.codeId
  if (item.parentId !== undefined) shown.parent_id = item.parentId
  if (item.emojiId !== undefined) shown.emoji_id = item.emojiId
  if (item.lootboxId !== undefined) {
    shown.main_id = item.lootboxId
    shown.main_table = "lootboxes"
  }
  if (item.rhythmScore !== undefined) shown.rhythm_score = item.rhythmScore
  if (item.previousCents !== undefined) shown.previous_unit_price_in_cents = item.previousCents
  if (item.released !== undefined) shown.released_at = item.released
  if (item.kept !== undefined) shown.not_released_reason = item.kept
  if (mark !== undefined) {
    shown.marked_invalid_at = mark.at
    shown.marked_invalid_at_reason = mark.reason
  }
  return shown
}

/** Builds the order objects of responses. In a Draft or Cancelled order, items that are already claimed are marked. */
export class OrderViews extends Context.Service<
  OrderViews,
  {
    /** `seen` has the claims that the caller read together with the order, so that they are not read again. */
    show(order: StoredOrder, user: DisplayUser, seen?: Seen): Effect.Effect<DisplayOrder, Unavailable>
    showMany(orders: ReadonlyArray<StoredOrder>): Effect.Effect<ReadonlyArray<DisplayOrder>, Unavailable>
  }
>()("directory/OrderViews") {
  static readonly layer = Layer.effect(
    OrderViews,
    Effect.gen(function* () {
      const orders = yield* Orders
      const users = yield* Users
      const secrets = yield* IntentSecrets
      const clock = yield* DatabaseClock
      const sandbox = yield* Sandbox
      const { takesTestPayments } = yield* AppConfig

      /** The ways to pay an intent. If a part of it is already paid, they show the remaining amount. */
      const waysToPay = (order: OrderContext, intent: Intent) =>
        order.paidAt === undefined && order.payments.some(({ intentId }) => intentId === intent.intentId)
          ? sandbox.waysToPay(intent, dueCents(order))
          : intent.methods

      const paymentData = Effect.fnUntracedEager(function* (order: OrderContext) {
        const { checkout, id, intent } = order
        if (checkout === undefined || intent === undefined) return undefined
        const isOff = intent.provider === sandbox.name && !takesTestPayments
        const data: Types.Mutable<NonNullable<DisplayOrder["payment_method_data"]>> = {
          method: checkout.method === "CryptoCommerce" ? "CryptoCommerce" : "CardCheckout",
          methods: isOff ? [] : waysToPay(order, intent),
          client_secret: yield* secrets.reveal(id, intent),
          payment_intent_id: intent.intentId,
        }
        if (checkout.successUrl !== undefined) data.success_url = checkout.successUrl
        if (checkout.cancelUrl !== undefined) data.cancel_url = checkout.cancelUrl
        if (intent.invoiceId !== undefined) data.invoice_id = intent.invoiceId
        if (intent.sessionId !== undefined) data.session_id = intent.sessionId
        if (intent.checkoutUrl !== undefined && !isOff) data.checkout_url = intent.checkoutUrl
        return data
      })

      const display = Effect.fnUntracedEager(function* (
        { context, status }: StoredOrder,
        user: DisplayUser,
        marks: ReadonlyMap<string, Mark>,
      ) {
        const isOpen = status === "Draft" || status === "PendingPayment"
        const expiresAt = status === "PendingPayment" ? context.checkout?.expiresAt : undefined
        const payment = yield* paymentData(context)
        const organizationId = context.checkout?.organizationId
        const items = payableItems(context.items, (claim) => marks.get(claim)?.reason === "Taken")
        const shown: Types.Mutable<DisplayOrder> = {
          id: context.id,
          order_number: orderNumber(context.id),
          status,
          created_at: context.createdAt,
          updated_at: context.updatedAt,
          user_id: context.userId,
          user,
          total_in_cents: totalCents(items),
          remaining_due_in_cents: isOpen ? dueCents({ ...context, items }) : 0,
          amount_overpaid_in_cents: overpaidCents(context),
          refunded_total_in_cents: refundedCents(context),
          misc_refunded_total_in_cents: miscRefundedCents(context),
          eligible_for_refund: refundableCents(context) > 0 && status !== "PendingPayment",
          order_items: context.items.map((item) => showItem(context, item, marks.get(item.claim ?? ""))),
          allowed_actions: allowedActions({ context, status }),
        }
        if (expiresAt !== undefined) {
          shown.expires_at = expiresAt
          shown.seconds_until_expiry = Math.max(0, Math.ceil((Date.parse(expiresAt) - clock.now()) / 1000))
        }
        if (context.paidAt !== undefined) shown.paid_at = context.paidAt
        if (payment !== undefined) shown.payment_method_data = payment
        if (organizationId !== undefined) shown.organization_id = organizationId
        if (context.declined !== undefined) shown.last_payment_error = context.declined
        return shown
      })

      return OrderViews.of({
        show: Effect.fnUntracedEager(function* (order, user, seen) {
          const claims = claimsToSee(order)
          if (seen !== undefined && claims.every((claim) => seen.claims.has(claim)))
            return yield* display(order, user, claims.length === 0 ? unmarked : seen.held)
          return yield* display(order, user, yield* orders.held(claims))
        }),
        showMany: Effect.fnUntraced(function* (list) {
          const marks = yield* orders.held(list.flatMap(claimsToSee))
          const owners = yield* users.findMany([...new Set(list.map(({ context }) => context.userId))])
          return yield* Effect.forEach(
            list.flatMap((order) => {
              const owner = owners.get(order.context.userId)
              return owner === undefined ? [] : [{ order, owner }]
            }),
            ({ order, owner }) => display(order, owner, claimsToSee(order).length === 0 ? unmarked : marks),
          )
        }),
      })
    }),
  )
}
