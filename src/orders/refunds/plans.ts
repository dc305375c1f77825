import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import type { OrderContext, Refund } from "../../../machines/orders/context.ts"
import { refundableCents, refundParts, totalCents } from "../../../machines/orders/money.ts"
import { Unprocessable } from "../../../schema/errors.ts"
import type { RefundRequest } from "../../../schema/orders/order.ts"

export type RequestedRefund = Omit<Refund, "status" | "ofSale" | "at">

const refuse = (field: string, code: string, message: string) =>
  new Unprocessable({ error: message, fields: { [field]: [{ code, message }] } })

/** The payment intents that can still be refunded, each with the amount that remains. */
const refundableByIntent = (order: OrderContext) => {
  const left = new Map<string, { provider: string; intentId: string; cents: number }>()
  const book = (provider: string, intentId: string | undefined, cents: number) => {
    if (intentId === undefined) return
    const known = left.get(intentId) ?? { provider, intentId, cents: 0 }
    left.set(intentId, { ...known, cents: known.cents + cents })
  }
  for (const { cents, intentId, provider } of order.payments) book(provider, intentId, cents)
  for (const { cents, intentId, provider, status } of order.refunds)
    if (status !== "Failed") book(provider, intentId, -cents)
  return [...left.values()].filter(({ cents }) => cents > 0)
}

const withDiscounts = (order: OrderContext, ids: ReadonlySet<string>) =>
  order.items.filter(({ id, parentId }) => ids.has(id) || ids.has(parentId ?? ""))

/** Whether this part of a refund was made while another part of the same refund failed. */
const isIncomplete = (order: OrderContext, refund: Refund) =>
  refund.status === "Refunded" && refundParts(order, refund).some(({ status }) => status === "Failed")

const sumOf = (refunds: ReadonlyArray<Refund>): number => refunds.reduce((sum, { cents }) => sum + cents, 0)

/**
 * The money that incomplete refunds have returned for these items. A later refund of other items of the same incomplete
 * refund possibly deducted some of it already.
 */
const partlyRefunded = (order: OrderContext, ids: ReadonlySet<string>): number => {
  const naming = (named: ReadonlySet<string>) => (refund: Refund) =>
    refund.itemIds.some((id) => named.has(id))
  const made = order.refunds.filter((refund) => isIncomplete(order, refund)).filter(naming(ids))
  const later = order.refunds
    .filter((refund) => refund.status !== "Failed" && !isIncomplete(order, refund))
    .filter(naming(new Set(made.flatMap(({ itemIds }) => itemIds))))
  const price = totalCents(order.items.filter(({ id }) => later.some(({ itemIds }) => itemIds.includes(id))))
  return Math.max(0, sumOf(made) - Math.max(0, price - sumOf(later)))
}

/** Computes the amount and the items of a requested refund. Fails if the request is not possible. */
const resolveRequest = (order: OrderContext, request: RefundRequest) =>
  Effect.gen(function* () {
    const left = refundableCents(order)
    if (left === 0) return yield* refuse("amount", "nothing_left", "This order has no money left to refund.")
    const given = new Set(
      order.refunds.flatMap((refund) =>
        refund.status === "Failed" || isIncomplete(order, refund) ? [] : refund.itemIds,
      ),
    )
    const open = order.items.filter(
      ({ id, refunded, type }) => type !== "Discount" && refunded !== true && !given.has(id),
    )
    if (request.item_ids != null) {
      // Items of an unpaid order cannot be refunded. The reason is that a late payment can still pay the order, and an
      // item that is already marked as refunded could then not be refunded.
      if (order.paidAt === undefined)
        return yield* refuse(
          "item_ids",
          "not_sold",
          "This order is not paid, so items cannot be refunded. Send an amount, or neither field to refund everything.",
        )
      const ids = new Set(request.item_ids.map((id) => id.toLowerCase()))
      const items = withDiscounts(order, ids)
      if ([...ids].some((id) => !open.some((item) => item.id === id)))
        return yield* refuse("item_ids", "unknown", "An item is not in this order or is already refunded.")
      const cents = request.amount ?? totalCents(items) - partlyRefunded(order, ids)
      if (cents <= 0) return yield* refuse("item_ids", "nothing_left", "These items have no price to refund.")
      if (cents > left)
        return yield* refuse(
          "amount",
          "too_much",
          `The amount exceeds the ${left} cents that can still be refunded.`,
        )
      return { cents, itemIds: items.map(({ id }) => id) }
    }
    const cents = request.amount ?? left
    if (cents > left)
      return yield* refuse(
        "amount",
        "too_much",
        `The amount exceeds the ${left} cents that can still be refunded.`,
      )
    // If the order is paid and the request has no amount, the refund includes all items that are not refunded yet, or
    // only in part. Otherwise it includes no items.
    const isAll = cents === left && order.paidAt !== undefined && request.amount == null
    const partial = order.items.filter(({ kept }) => kept === "partially_refunded")
    const ids = new Set([...open, ...partial].map(({ id }) => id))
    return { cents, itemIds: isAll ? withDiscounts(order, ids).map(({ id }) => id) : [] }
  })

/**
 * Splits an amount over the payments of the order. Fails if the amount exceeds the payments that were made through a
 * provider. Cash and payments booked by hand cannot be refunded through a provider.
 */
const partsOf = (order: OrderContext, cents: number) =>
  Effect.gen(function* () {
    let left = cents
    const parts = refundableByIntent(order).flatMap(({ cents: available, intentId, provider }) => {
      const part = Math.min(left, available)
      left -= part
      return part > 0 ? [{ provider, intentId, cents: part }] : []
    })
    if (left > 0)
      return yield* refuse(
        "amount",
        "needs_override",
        `${left} cents of this amount were not paid through a provider. Refund them by hand and book them with refund_override.`,
      )
    return parts
  })

/** Splits a requested refund into parts: one part for each payment that is refunded. */
export const planRefund = Effect.fnUntraced(function* (order: OrderContext, request: RefundRequest) {
  const { cents, itemIds } = yield* resolveRequest(order, request)
  const parts = yield* partsOf(order, cents)
  const first = randomUUID()
  return parts.map(
    (part, n): RequestedRefund => ({
      id: n === 0 ? first : randomUUID(),
      itemIds,
      ...part,
      ...(request.reason == null ? {} : { reason: request.reason }),
      ...(itemIds.length === 0 || request.keep_ids === true ? {} : { releases: true as const }),
      ...(parts.length === 1 ? {} : { whole: first }),
    }),
  )
})
