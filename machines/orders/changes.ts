import type { OrderContext, OrderEvent, OrderInput, OrderItem, Payment } from "./context.ts"
import { dueCents, isComplete } from "./money.ts"

/** Pure functions that apply an event to an order. The machine decides when an event is allowed. */

export type Event<T extends OrderEvent["type"]> = Extract<OrderEvent, { type: T }>
export type CheckoutEvent = Event<
  "checkout.payment" | "checkout.hold" | "checkout.free" | "checkout.cash" | "activate"
>

export type RefundEvent = Event<"refund.made" | "refund.failed" | "refund.returned">

const isDiscount = (item: OrderItem) => item.type === "Discount"

/**
 * The context of a new order. It sets all members, also those without a value, because V8 copies an object faster
 * when the copy adds no members.
 */
export const begun = (input: OrderInput): OrderContext => ({
  id: input.id,
  userId: input.userId,
  createdAt: input.createdAt,
  updatedAt: input.createdAt,
  items: input.items ?? [],
  tracking: undefined,
  checkout: undefined,
  attempt: 0,
  intent: undefined,
  replaced: undefined,
  payments: [],
  refunds: [],
  codes: [],
  declined: undefined,
  paidAt: undefined,
  cancelled: undefined,
  undelivered: [],
})

export const added = (order: OrderContext, event: Event<"add">): OrderContext => ({
  ...order,
  updatedAt: event.at,
  items: [...order.items, ...event.items],
  ...(event.tracking === undefined ? {} : { tracking: event.tracking }),
})

export const removed = (order: OrderContext, event: Event<"remove">): OrderContext => ({
  ...order,
  updatedAt: event.at,
  items: order.items.filter((item) => item.id !== event.itemId),
})

export const cleared = (order: OrderContext, event: Event<"clear">): OrderContext => ({
  ...order,
  updatedAt: event.at,
  items: [],
})

/** The replaced intents of an order after its current intent was replaced too. */
const withReplaced = ({ intent, replaced }: OrderContext, replacedAt: string): OrderContext["replaced"] => {
  if (intent === undefined) return replaced
  const { attempt, intentId, provider, sessionId } = intent
  const one = { attempt, provider, intentId, ...(sessionId === undefined ? {} : { sessionId }), replacedAt }
  return [...(replaced ?? []), one]
}

export const checkedOut = (order: OrderContext, event: CheckoutEvent): OrderContext => ({
  ...order,
  updatedAt: event.at,
  items: event.items,
  checkout: event.checkout,
  attempt: order.attempt + 1,
  intent: "intent" in event ? event.intent : undefined,
  replaced: withReplaced(order, event.at),
  declined: undefined,
  ...(event.tracking === undefined ? {} : { tracking: event.tracking }),
})

/** Changes the payment method of a pending order. The hold on the ids does not change. */
export const methodChanged = (order: OrderContext, event: Event<"checkout.payment">): OrderContext => {
  const { at, expiresAt, warned } = order.checkout ?? event.checkout
  return checkedOut(order, {
    ...event,
    checkout: {
      ...event.checkout,
      at,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(warned === undefined ? {} : { warned }),
    },
  })
}

/** Adds the discounts of a code. They change the amount due, so the intent is removed and must be created again. */
export const discounted = (order: OrderContext, event: Event<"promo_code">): OrderContext => ({
  ...order,
  updatedAt: event.at,
  items: [...order.items, ...event.discounts],
  codes: [...order.codes, event.code],
  attempt: order.attempt + 1,
  intent: undefined,
})

export const drafted = (order: OrderContext, event: Event<"convert_to_draft">): OrderContext => ({
  ...order,
  updatedAt: event.at,
  items: order.items.filter((item) => !isDiscount(item)),
  codes: [],
  checkout: undefined,
  intent: undefined,
  declined: undefined,
})

export const offered = (order: OrderContext, event: Event<"intent.made">): OrderContext => ({
  ...order,
  updatedAt: event.at,
  intent: event.intent,
})

export const intentCancelled = (order: OrderContext, event: Event<"intent.cancelled">): OrderContext => ({
  ...order,
  replaced: order.replaced?.filter(({ intentId }) => intentId !== event.intentId),
})

export const declined = (order: OrderContext, event: Event<"payment.declined">): OrderContext => ({
  ...order,
  updatedAt: event.at,
  declined: event.reason,
})

const cancelled =
  (reason: "expired" | "deleted") =>
  (order: OrderContext, { at }: { readonly at: string }): OrderContext => ({
    ...order,
    updatedAt: at,
    cancelled: { at, reason },
  })
export const deleted = cancelled("deleted")
export const expired = cancelled("expired")

export const received = (order: OrderContext, payment: Payment): OrderContext => ({
  ...order,
  updatedAt: payment.at,
  payments: [...order.payments, payment],
  declined: undefined,
})

type PaymentEvent = Event<"payment.captured" | "checkout.cash">

export const captured = (order: OrderContext, { payment }: PaymentEvent): OrderContext =>
  received(order, payment)

/**
 * Records a payment that does not cover the amount due. If the order's intent was paid in part, that intent stays. If
 * the money was paid in another way, the intent has the wrong amount and is removed.
 */
export const partPaid = (order: OrderContext, { payment }: PaymentEvent): OrderContext => ({
  ...received(order, payment),
  ...(order.intent !== undefined && order.intent.intentId === payment.intentId
    ? {}
    : { attempt: order.attempt + 1, intent: undefined }),
})

export const partPaidDraft = (order: OrderContext, event: Event<"checkout.cash">): OrderContext =>
  received({ ...order, items: event.items }, event.payment)

export const paid = (order: OrderContext, at: string): OrderContext => ({
  ...order,
  updatedAt: at,
  paidAt: at,
})

export const settled = (order: OrderContext, event: CheckoutEvent): OrderContext =>
  paid(checkedOut(order, event), event.at)

export const capturedInFull = (order: OrderContext, event: Event<"payment.captured">): OrderContext =>
  paid(received(order, event.payment), event.at)

export const capturedInVain = (order: OrderContext, event: Event<"payment.captured">): OrderContext =>
  deleted(received(order, event.payment), event)

/**
 * Pays a cancelled order. If the event contains the buyer's current address, the receipt goes to this address instead
 * of the address of the checkout.
 */
export const paidLate = (order: OrderContext, event: Event<"payment.captured">): OrderContext => {
  const { checkout, ...bought } = paid(received(order, event.payment), event.at)
  return {
    ...bought,
    checkout:
      checkout === undefined || event.email === undefined ? checkout : { ...checkout, email: event.email },
  }
}

export const covers = (order: OrderContext, payment: Payment): boolean =>
  dueCents(received(order, payment)) === 0

export const refundBegun = (order: OrderContext, event: Event<"refund">): OrderContext => ({
  ...order,
  updatedAt: event.at,
  refunds: [...order.refunds, ...event.refunds],
})

export const refundTakenOn = (order: OrderContext, event: Event<"refund.taken_on">): OrderContext => ({
  ...order,
  refunds: order.refunds.map((one) => (one.id === event.refundId ? { ...one, takenOnAt: event.at } : one)),
})

export const refundSettled = (order: OrderContext, event: RefundEvent): OrderContext => {
  const status = event.type === "refund.made" ? "Refunded" : "Failed"
  const refunds = order.refunds.map((one) =>
    one.id === event.refundId ? ({ ...one, status } as const) : one,
  )
  const settled = { ...order, updatedAt: event.at, refunds }
  const refund = refunds.find(({ id }) => id === event.refundId)
  const isDone = refund !== undefined && isComplete(settled, refund)
  const isNamed = ({ id }: OrderItem) => refund?.itemIds.includes(id) === true
  // A refund of everything also names the items that were refunded in part before.
  const isNamedElsewhere = ({ id }: OrderItem) =>
    refunds.some((one) => one.id !== event.refundId && one.itemIds.includes(id) && isComplete(settled, one))
  const releases = event.type === "refund.made" ? (event.releases ?? []) : []
  return {
    ...settled,
    items: order.items.map((item) => {
      const release = releases.find(({ itemId }) => itemId === item.id)
      if (!isNamed(item) || (isDone === (item.refunded === true) && release === undefined)) return item
      const { kept: _kept, refunded: _refunded, ...unrefunded } = item
      const isPartial = !isDone && isNamedElsewhere(item)
      const kept = isPartial && item.released === undefined ? "partially_refunded" : release?.kept
      const outcome =
        kept !== undefined && item.type !== "Discount"
          ? { kept }
          : release === undefined
            ? {}
            : { released: event.at }
      return {
        ...unrefunded,
        ...(isDone || isPartial ? { refunded: true, ...outcome } : {}),
        updatedAt: event.at,
      }
    }),
  }
}

/** Wraps a change of a pending order: if the change alters the amount due, the order's intent is removed. */
export const reoffered =
  <E>(apply: (order: OrderContext, event: E) => OrderContext) =>
  (before: OrderContext, event: E): OrderContext => {
    const after = apply(before, event)
    return dueCents(after) === dueCents(before)
      ? after
      : { ...after, attempt: after.attempt + 1, intent: undefined }
  }

export const handedOver = (order: OrderContext, event: Event<"delivered">): OrderContext => ({
  ...order,
  undelivered: order.undelivered.filter((id) => id !== event.lootboxId),
})

export const paidInCash = (order: OrderContext, event: Event<"checkout.cash">): OrderContext =>
  paid(received(checkedOut(order, event), event.payment), event.at)

/**
 * Puts the id of a random id code into an empty cart. The order holds the id until the checkout or until it expires.
 */
export const activated = (order: OrderContext, event: Event<"activate">): OrderContext => ({
  ...checkedOut(order, event),
  codes: [event.code],
})

export const warned = (order: OrderContext): OrderContext =>
  order.checkout === undefined ? order : { ...order, checkout: { ...order.checkout, warned: true } }
