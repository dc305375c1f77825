import { checkedOut, covers } from "./changes.ts"
import type { OrderContext, OrderEvent } from "./context.ts"
import { expiryOf, pendingDueAt } from "./deadlines.ts"
import { dueCents, refundableCents, totalCents } from "./money.ts"

interface Args {
  readonly context: OrderContext
  readonly event: OrderEvent
}

/** When a transition applies. The names are what the machine reads like. */
export const orderGuards = {
  hasItems: ({ event }: Args) => "items" in event && event.items.length > 0,
  hasItem: ({ context, event }: Args) =>
    event.type === "remove" && context.items.some((item) => item.id === event.itemId),
  isCovered: ({ context, event }: Args) =>
    event.type === "checkout.payment" && event.items.length > 0 && dueCents(checkedOut(context, event)) === 0,
  isFree: ({ event }: Args) =>
    event.type === "checkout.free" && event.items.length > 0 && totalCents(event.items) === 0,
  isPaidInCash: ({ context, event }: Args) =>
    event.type === "checkout.cash" &&
    event.items.length > 0 &&
    covers(checkedOut(context, event), event.payment),
  isForNobody: ({ event }: Args) => event.type === "payment.captured" && !event.idsFree,
  isPaidAndFree: ({ context, event }: Args) =>
    event.type === "payment.captured" && event.idsFree && covers(context, event.payment),
  isActivation: ({ context, event }: Args) =>
    event.type === "activate" && context.items.length === 0 && totalCents(event.items) === 0,
  isCurrentIntent: ({ context, event }: Args) =>
    event.type === "intent.made" && context.intent === undefined && event.intent.attempt === context.attempt,
  isOver: ({ context, event }: Args) => Date.parse(event.at) >= expiryOf(context),
  isEnding: ({ context, event }: Args) =>
    context.checkout?.warned !== true && Date.parse(event.at) >= pendingDueAt(context),
  isRefundable: ({ context, event }: Args) =>
    event.type === "refund" &&
    event.refunds.every(({ cents }) => cents > 0) &&
    event.refunds.reduce((sum, { cents }) => sum + cents, 0) <= refundableCents(context) &&
    !context.refunds.some(({ id }) => event.refunds.some((refund) => refund.id === id)),
  isRefundPending: ({ context, event }: Args) =>
    (event.type === "refund.taken_on" || event.type === "refund.made" || event.type === "refund.failed") &&
    context.refunds.some(({ id, status }) => id === event.refundId && status === "Pending"),
  isRefundMade: ({ context, event }: Args) =>
    event.type === "refund.returned" &&
    context.refunds.some(({ id, status }) => id === event.refundId && status === "Refunded"),
  isUndelivered: ({ context, event }: Args) =>
    event.type === "delivered" && context.undelivered.includes(event.lootboxId),
}
