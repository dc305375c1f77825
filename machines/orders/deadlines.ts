import type { OrderContext } from "./context.ts"

/** The event `cart.expiring` is published this long before the hold expires. */
const warningMs = 60_000

export const expiryOf = (order: OrderContext): number => Date.parse(order.checkout?.expiresAt ?? "")

/**
 * The next deadline of a pending order. It is the time of the warning first, and the time of the expiry afterwards.
 */
export const pendingDueAt = (order: OrderContext): number => {
  const end = expiryOf(order)
  const isWarned = order.checkout?.warned === true || end - warningMs <= Date.parse(order.checkout?.at ?? "")
  return isWarned ? end : end - warningMs
}
