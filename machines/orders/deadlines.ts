import type { OrderContext } from "./context.ts"

/** How long before the expiry of a hold the event `cart.expiring` is published. */
const warningMs = 60_000

export const expiryOf = (order: OrderContext): number => Date.parse(order.checkout?.expiresAt ?? "")

/** The next deadline of a pending order: first the expiry warning, then the expiry. */
export const pendingDueAt = (order: OrderContext): number => {
  const end = expiryOf(order)
  const isWarned = order.checkout?.warned === true || end - warningMs <= Date.parse(order.checkout?.at ?? "")
  return isWarned ? end : end - warningMs
}
