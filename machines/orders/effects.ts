import { displayRecord } from "../../schema/directory/records/record.ts"
import type { ChannelEvent, Claim, CodeUse, Grant, JoinedEvent, Mail } from "../../schema/turn.ts"
import type { CodeHold, OrderContext, OrderItem, Payment } from "./context.ts"
import { dueCents, overpaidCents, payableItems, refundableCents, totalCents } from "./money.ts"

/** Functions that compute the effects of an order's turns. */

export const orderNumberDigits = 8
export const orderNumber = (id: string): string => id.slice(-orderNumberDigits)

const claimed = (order: OrderContext): ReadonlyArray<OrderItem & { readonly claim: string }> =>
  order.items.filter((item): item is OrderItem & { readonly claim: string } => item.claim !== undefined)

const ids = (order: OrderContext) => claimed(order).filter((item) => item.type === "EmojiId")

export const holdClaims = (order: OrderContext): ReadonlyArray<Claim> =>
  claimed(order).map(({ claim }) => ({ canonical: claim, kind: "order", holder: order.id }))

/**
 * Claims the bought ids for the buyer. The commit fails if another order, lootbox, transfer or owner has claimed one
 * of them. A bought lootbox takes its claim from the order in its own turn, see `boxSales`.
 */
export const paidClaims = (order: OrderContext): ReadonlyArray<Claim> =>
  ids(order).map(({ claim }) => ({
    canonical: claim,
    kind: "owned",
    holder: order.userId,
    owner_id: order.userId,
    from_holder: order.id,
  }))

/** The events that make the buyer the owner of the bought lootboxes, in the commit that pays the order. */
export const boxSales = (order: OrderContext): ReadonlyArray<JoinedEvent> =>
  claimed(order).flatMap(({ claim, lootboxId }) =>
    lootboxId === undefined
      ? []
      : [
          {
            entity: "lootbox",
            id: lootboxId,
            claim,
            event: {
              type: "BUY",
              now: Date.parse(order.paidAt ?? order.updatedAt),
              orderId: order.id,
              buyerId: order.userId,
            },
          },
        ],
  )

export const releases = (order: OrderContext): ReadonlyArray<string> =>
  claimed(order).map(({ claim }) => claim)

export const grants = (order: OrderContext): ReadonlyArray<Grant> =>
  ids(order).map(({ claim, emojiId = claim }) => ({
    canonical: claim,
    owner_id: order.userId,
    pubkey: order.checkout?.pubkey ?? null,
    source: `order:${order.id}`,
    display: displayRecord(claim, emojiId),
  }))

/** The use of a code by an order, with the sum of the discounts that the code gives. */
export const codeUse = (
  { userId }: OrderContext,
  { codeId, count }: CodeHold,
  items: ReadonlyArray<OrderItem>,
): CodeUse => ({
  code_id: codeId,
  user_id: userId,
  count,
  cents: items.reduce((sum, item) => (item.codeId === codeId ? sum - item.cents : sum), 0),
})

/** Uses the codes of an order again. Needed if a cancelled order is paid late. */
export const usesAgain = (order: OrderContext): ReadonlyArray<CodeUse> =>
  order.codes.map((code) => codeUse(order, code, order.items))

export const returnedUses = (order: OrderContext): ReadonlyArray<CodeUse> =>
  order.codes.map(({ codeId, count }) => ({ code_id: codeId, user_id: order.userId, count: -count }))

const summaryOf = (order: OrderContext, status: string, payable = order.items) => ({
  order_id: order.id,
  status,
  items: claimed(order).length,
  total_in_cents: totalCents(payable),
  remaining_due_in_cents:
    status === "Paid" || status === "Cancelled" ? 0 : dueCents({ ...order, items: payable }),
  ...(status === "PendingPayment"
    ? { expires_at: order.checkout?.expiresAt, method: order.checkout?.method }
    : {}),
})

export const changedEvents = (
  order: OrderContext,
  status: string,
  taken: ReadonlyArray<string> = [],
): ReadonlyArray<ChannelEvent> => {
  const data = summaryOf(
    order,
    status,
    payableItems(order.items, (claim) => taken.includes(claim)),
  )
  return [
    { channel: `cart:${order.userId}`, type: "cart.changed", data },
    { channel: `order:${order.id}`, type: "order.changed", data },
  ]
}

/** The event for the cart channel when the amount due or the intent has changed. Empty if the order is closed. */
export const cartEvents = (order: OrderContext): ReadonlyArray<ChannelEvent> => {
  if (order.paidAt !== undefined || order.cancelled !== undefined) return []
  const data = summaryOf(order, order.checkout === undefined ? "Draft" : "PendingPayment")
  return [{ channel: `cart:${order.userId}`, type: "cart.changed", data }]
}

export const expiringEvents = (order: OrderContext): ReadonlyArray<ChannelEvent> => {
  const data = summaryOf(order, "PendingPayment")
  return [
    { channel: `cart:${order.userId}`, type: "cart.expiring", data },
    { channel: `order:${order.id}`, type: "cart.expiring", data },
  ]
}

const market = (order: OrderContext, type: string): ReadonlyArray<ChannelEvent> =>
  ids(order).map(({ claim }) => ({ channel: "market", type, data: { emoji_id: claim } }))

export const releasedEvents = (order: OrderContext) => market(order, "market.released")

export const cancelledEvents = (order: OrderContext): ReadonlyArray<ChannelEvent> => {
  const type = order.cancelled?.reason === "expired" ? "cart.expired" : "cart.changed"
  const data = summaryOf(order, "Cancelled")
  return [
    { channel: `cart:${order.userId}`, type, data },
    { channel: `order:${order.id}`, type, data },
    ...releasedEvents(order),
  ]
}

export const paidEvents = (order: OrderContext): ReadonlyArray<ChannelEvent> => {
  const data = summaryOf(order, "Paid")
  return [
    { channel: `cart:${order.userId}`, type: "cart.changed", data },
    { channel: `order:${order.id}`, type: "order.paid", data },
    ...ids(order).map(({ claim }) => ({
      channel: `emoji_id:${claim}`,
      type: "emoji_id.registered",
      data: { emoji_id: claim },
    })),
    ...market(order, "market.purchased"),
  ]
}

const mailData = (order: OrderContext) => ({
  order_number: orderNumber(order.id),
  items: order.items.map((item) => ({
    name: item.emojiId ?? (item.type === "LootBox" ? "Lootbox" : "Discount"),
    price_in_cents: item.cents,
  })),
  total: totalCents(order.items),
})

/** The receipt mail. It also states an overpaid amount. Empty if no address is known. */
export const receipt = (order: OrderContext, to = order.checkout?.email): ReadonlyArray<Mail> => {
  if (to === undefined) return []
  const { items, order_number, total } = mailData(order)
  const data = { order_number, items, total, overpaid: overpaidCents(order) }
  return [{ to, kind: "order_receipt", data }]
}

/**
 * Whether the next cart contains the items of this order again. This is the case if the order expired and its payment
 * method was not Free. The random id of a code has the method Free.
 */
export const isOfferedAgain = ({ cancelled, checkout }: OrderContext): boolean =>
  cancelled?.reason === "expired" && checkout?.method !== "Free"

/** The mail about an expired order. It states how much of the order was paid and not refunded. */
export const expiryNotice = (order: OrderContext): ReadonlyArray<Mail> => {
  const to = order.checkout?.email
  if (to === undefined || order.cancelled?.reason !== "expired") return []
  const data = { ...mailData(order), offered_again: isOfferedAgain(order), kept: refundableCents(order) }
  return [{ to, kind: "order_expired", data }]
}

/** The mail about a payment that was booked but did not pay the order. Empty if no address is known. */
export const keptNotice = (
  order: OrderContext,
  { email, payment }: { readonly email?: string; readonly payment: Payment },
): ReadonlyArray<Mail> => {
  if (email === undefined) return []
  const { cancelled, id, paidAt } = order
  const found = paidAt !== undefined ? "paid" : cancelled !== undefined ? "over" : "in_cart"
  const data = { order_number: orderNumber(id), amount: payment.cents, found }
  return [{ to: email, kind: "payment_kept", data }]
}
