import { Effect, Schema } from "effect"
import { EventRefused, Forbidden, NotFound, TwoFactorRequired, Unprocessable } from "../../schema/errors.ts"
import {
  DisplayOrder,
  DisplayRefund,
  OrderStatus,
  PaymentOverrideRequest,
  RefundOverrideRequest,
  RefundRequest,
} from "../../schema/orders/order.ts"
import { paged, pageOf, pageQuery, pageRequest } from "../../schema/paging.ts"
import { BooleanText, text, Uuid } from "../../schema/wire-format.ts"
import { recordEvent } from "../accounts/security-log/security-log.ts"
import { route } from "../http/route.ts"
import { formerOperationKey } from "./former-operation-key.ts"
import { OrderHistory } from "./history.ts"
import { Orders, orderList, type StoredOrder } from "./order-store.ts"
import { OrderViews } from "./order-view.ts"
import { PaymentEvents } from "./payments/apply-payment-event.ts"
import { Refunds } from "./refunds/refunds.ts"

const shared = { group: "orders", auth: "apiKey" } as const
const params = { id: Uuid }

const recordBooking = (
  event: "order.refunded" | "order.refund_overridden" | "order.payment_overridden",
  { id, userId }: Pick<StoredOrder["context"], "id" | "userId">,
  cents: number | null,
) => recordEvent({ event, userId, details: { order_id: id, cents } })

const listOrders = route({
  ...shared,
  id: "listOrders",
  summary: "List orders",
  description:
    "Newest first. `user_id` and `all` require `order:read`. `holds_money`: unpaid orders with money that was not refunded. `order_number`: the number on the receipt.",
  method: "get",
  path: "/orders",
  scope: "order:readSelf",
  access: { own: true, others: "order:read" },
  query: {
    ...pageQuery(orderList),
    status: Schema.optionalKey(OrderStatus),
    user_id: Schema.optionalKey(Uuid),
    all: Schema.optionalKey(BooleanText),
    holds_money: Schema.optionalKey(BooleanText),
    order_number: Schema.optionalKey(text(64)),
  },
  success: pageOf(DisplayOrder, "ListOfDisplayOrder"),
  errors: [Forbidden],
  handler: ({ principal, query }) =>
    Effect.gen(function* () {
      const userId = query.all === "true" ? undefined : (query.user_id?.toLowerCase() ?? principal.userId)
      if (userId !== principal.userId && !principal.scopes.has("order:read"))
        return yield* new Forbidden({
          error: "The orders of other users require the scope order:read.",
          details: { scope: "order:read" },
        })
      const page = yield* pageRequest(orderList, query)
      const holdsMoney = query.holds_money === undefined ? undefined : query.holds_money === "true"
      const number = query.order_number?.trim().toLowerCase() || undefined
      const filter = { userId, status: query.status, holdsMoney, number }
      const found = yield* Orders.use((orders) => orders.list(filter, page))
      return paged(orderList, page, found, yield* OrderViews.use((views) => views.showMany(found.rows)))
    }),
})

const getOrder = route({
  ...shared,
  id: "getOrder",
  summary: "Get an order",
  description:
    "`allowed_actions` lists what its state allows now. Orders of other users require `order:read`.",
  method: "get",
  path: "/orders/:id",
  scope: "order:readSelf",
  access: { own: true, others: "order:read" },
  params,
  success: DisplayOrder,
  errors: [NotFound],
  handler: ({ params: { id }, principal }) =>
    OrderHistory.use((history) => history.showTo(principal, id.toLowerCase())),
})

const refundOrder = route({
  ...shared,
  id: "refundOrder",
  summary: "Refund a payment",
  description:
    "For administrators: everything, an amount, or the price of items. The ids and unopened lootboxes of fully refunded items are released, unless `keep_ids` is true; `order_items` has `released_at` or `not_released_reason`. Send an Idempotency-Key to repeat the request safely; each request without a key is a new refund. 422 `method_unavailable`: the provider of the payment is not configured.",
  method: "post",
  path: "/orders/:id/refund",
  work: "provider",
  scope: "order:refund",
  sensitive: true,
  params,
  body: RefundRequest,
  success: DisplayOrder,
  errors: [EventRefused, NotFound, TwoFactorRequired, Unprocessable],
  handler: ({ body, params: { id } }) =>
    Effect.gen(function* () {
      const formerKey = yield* formerOperationKey(id, body)
      const order = yield* Refunds.use((refunds) => refunds.run(id.toLowerCase(), body, formerKey))
      yield* recordBooking("order.refunded", order.context, body.amount ?? null)
      return yield* OrderHistory.use((history) => history.show(order))
    }),
})

const refundOverride = route({
  ...shared,
  id: "overrideRefund",
  summary: "Book a refund that was made elsewhere",
  description:
    "For administrators. The same `external_reference` is one refund of the order; another amount with it is 409.",
  method: "post",
  path: "/orders/:id/refund_override",
  work: "provider",
  scope: "order:refundOverride",
  sensitive: true,
  params,
  body: RefundOverrideRequest,
  success: DisplayOrder,
  errors: [EventRefused, NotFound, TwoFactorRequired, Unprocessable],
  handler: ({ body, params: { id } }) =>
    Effect.gen(function* () {
      const { amount: cents, external_reference: externalReference, reason } = body
      const refund = { cents, externalReference, reason: reason ?? undefined }
      const order = yield* Refunds.use((refunds) => refunds.record(id.toLowerCase(), refund))
      yield* recordBooking("order.refund_overridden", order.context, cents)
      return yield* OrderHistory.use((history) => history.show(order))
    }),
})

const listRefunds = route({
  ...shared,
  id: "listRefunds",
  summary: "List the refunds of an order",
  description: "Each refund has its amount and its state at the payment provider.",
  method: "get",
  path: "/orders/:id/refunds",
  scope: "refund:read",
  access: { own: true, others: "order:read" },
  params,
  success: Schema.Array(DisplayRefund),
  errors: [NotFound],
  handler: ({ params: { id }, principal }) =>
    OrderHistory.use((history) => history.get(principal, id.toLowerCase())).pipe(
      Effect.map(({ context }) =>
        context.refunds.map((refund) => ({
          id: refund.id,
          order_id: context.id,
          amount_in_cents: refund.cents,
          status: refund.status,
          provider: refund.provider,
          item_ids: refund.itemIds,
          created_at: refund.at,
          ...(refund.reason === undefined ? {} : { reason: refund.reason }),
          ...(refund.externalReference === undefined ? {} : { external_reference: refund.externalReference }),
        })),
      ),
    ),
})

const paymentOverride = route({
  ...shared,
  id: "overridePayment",
  summary: "Book a payment that was received elsewhere",
  description:
    "For administrators. An order that is paid in full gives its ids to the buyer. The same `external_reference` is one payment of the order; another amount with it is 409.",
  method: "post",
  path: "/orders/:id/payment_override",
  work: "provider",
  scope: "order:paymentOverride",
  sensitive: true,
  params,
  body: PaymentOverrideRequest,
  success: DisplayOrder,
  errors: [EventRefused, NotFound, TwoFactorRequired],
  handler: ({ body, params: { id } }) =>
    Effect.gen(function* () {
      const orderId = id.toLowerCase()
      yield* PaymentEvents.use((events) =>
        events.vouch(orderId, { cents: body.amount, externalReference: body.external_reference }),
      )
      const shown = yield* OrderHistory.use((history) => history.showById(orderId))
      yield* recordBooking("order.payment_overridden", { id: orderId, userId: shown.user_id }, body.amount)
      return shown
    }),
})

const resendConfirmation = route({
  ...shared,
  id: "resendOrderConfirmation",
  summary: "Send the receipt of a paid order again",
  description: "For administrators. The mail goes to the buyer. An order that is not paid is 409.",
  method: "post",
  path: "/orders/:id/resend_confirmation",
  scope: "order:resendConfirmation",
  limit: "mail",
  params,
  success: DisplayOrder,
  errors: [EventRefused, NotFound],
  handler: ({ params: { id } }) =>
    Effect.gen(function* () {
      const history = yield* OrderHistory
      return yield* history.show(yield* history.resendReceipt(id.toLowerCase()))
    }),
})

export const orders = [
  listOrders,
  getOrder,
  refundOrder,
  refundOverride,
  listRefunds,
  paymentOverride,
  resendConfirmation,
] as const
