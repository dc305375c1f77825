import type { OrderContext } from "./context.ts"

/** A hold is announced to end this long before it does. */
const warningMs = 60_000

export const expiryOf = (order: OrderContext): number => Date.parse(order.checkout?.expiresAt ?? "")

/** When the sweeper must look at a pending order: to announce its end, then to end it. */
export const pendingDueAt = (order: OrderContext): number => {
  const end = expiryOf(order)
  const isAnnounced =
    order.checkout?.warned === true || end - warningMs <= Date.parse(order.checkout?.at ?? "")
  return isAnnounced ? end : end - warningMs
}
