import { checkedOut, covers } from "./changes.ts"
import type { OrderContext, OrderEvent } from "./context.ts"
import { expiryOf, pendingDueAt } from "./deadlines.ts"
import { dueCents, refundableCents, totalCents } from "./money.ts"

interface Args {
  readonly context: OrderContext
  readonly event: OrderEvent
}

export type Refusal =
  | "no_items"
  | "unknown_item"
  | "not_free"
  | "cart_not_empty"
  | "outdated_intent"
  | "unknown_intent"
  | "not_refundable"
  | "unknown_refund"
  | "unknown_lootbox"

const hasRefund = ({ refunds }: OrderContext, refundId: string, wanted: "Pending" | "Refunded") =>
  refunds.some(({ id, status }) => id === refundId && status === wanted)

const isRefundable = (order: OrderContext, { refunds }: Extract<OrderEvent, { type: "refund" }>) =>
  refunds.every(({ cents }) => cents > 0) &&
  refunds.reduce((sum, { cents }) => sum + cents, 0) <= refundableCents(order) &&
  !order.refunds.some(({ id }) => refunds.some((refund) => refund.id === id))

/**
 * Returns why an order refuses an event although its state has a transition for the event. Undefined if the order
 * accepts it. The guard `isAccepted` and the error messages of the API use this function, so each rule is written
 * once.
 */
export const refusalOf = (order: OrderContext, event: OrderEvent): Refusal | undefined => {
  const unless = (isAccepted: boolean, refusal: Refusal) => (isAccepted ? undefined : refusal)
  switch (event.type) {
    case "add":
    case "checkout.payment":
    case "checkout.hold":
    case "checkout.cash":
      return unless(event.items.length > 0, "no_items")
    case "checkout.free":
      return event.items.length === 0 ? "no_items" : unless(totalCents(event.items) === 0, "not_free")
    case "remove":
      return unless(
        order.items.some(({ id }) => id === event.itemId),
        "unknown_item",
      )
    case "activate":
      return order.items.length > 0 ? "cart_not_empty" : unless(totalCents(event.items) === 0, "not_free")
    case "intent.made":
      return unless(order.intent === undefined && event.intent.attempt === order.attempt, "outdated_intent")
    case "intent.cancelled":
      return unless(
        order.replaced?.some(({ intentId }) => intentId === event.intentId) === true,
        "unknown_intent",
      )
    case "refund":
      return unless(isRefundable(order, event), "not_refundable")
    case "refund.taken_on":
    case "refund.made":
    case "refund.failed":
      return unless(hasRefund(order, event.refundId, "Pending"), "unknown_refund")
    case "refund.returned":
      return unless(hasRefund(order, event.refundId, "Refunded"), "unknown_refund")
    case "delivered":
      return unless(order.undelivered.includes(event.lootboxId), "unknown_lootbox")
    default:
      return undefined
  }
}

/**
 * The guards of the machine. `isAccepted` applies `refusalOf`. The others choose between transitions for one event.
 */
export const orderGuards = {
  isAccepted: ({ context, event }: Args) => refusalOf(context, event) === undefined,
  /** The checkout leaves no amount due, so the order becomes Paid. */
  isSettled: ({ context, event }: Args) => paysOrder(context, event),
  /** The checkout of a pending order names another payment method. The same method again changes nothing. */
  changesMethod: ({ context, event }: Args) =>
    event.type === "checkout.payment" &&
    refusalOf(context, event) === undefined &&
    event.checkout.method !== context.checkout?.method,
  cannotGrant: ({ event }: Args) => event.type === "payment.captured" && !event.idsFree,
  /** An order that was purged and restored for a late payment has no items, so nothing can be paid. */
  isPaidAndFree: ({ context, event }: Args) =>
    event.type === "payment.captured" &&
    event.idsFree &&
    context.items.length > 0 &&
    covers(context, event.payment),
  isExpired: ({ context, event }: Args) => Date.parse(event.at) >= expiryOf(context),
  isExpiring: ({ context, event }: Args) =>
    context.checkout?.warned !== true && Date.parse(event.at) >= pendingDueAt(context),
}

/** Whether a checkout pays the order in the same turn. */
export const paysOrder = (order: OrderContext, event: OrderEvent): boolean => {
  if (refusalOf(order, event) !== undefined) return false
  if (event.type === "checkout.free") return true
  if (event.type === "checkout.payment") return dueCents(checkedOut(order, event)) === 0
  return event.type === "checkout.cash" && covers(checkedOut(order, event), event.payment)
}
