import type { EventRefused } from "../../schema/errors.ts"
import { isForgotten } from "../turns/operation-key.ts"
import type { StoredOrder } from "./order-store.ts"
import { refusedByState } from "./refusals.ts"

interface Booking {
  readonly at: string
  readonly externalReference?: string
  readonly operationKey?: string
}

/**
 * Finds the payment or refund that an earlier request booked on this order, or undefined. If the request has a
 * reference, only the reference is compared, without a time limit. If it has none, its Idempotency-Key identifies the
 * booking for one day. A request with neither of them never matches an earlier booking.
 */
export const findBooked = <B extends Booking>(
  bookings: ReadonlyArray<B>,
  externalReference: string | null | undefined,
  operationKey: string | undefined,
  now: number,
): B | undefined => {
  if (externalReference != null)
    return bookings.find((booking) => booking.externalReference === externalReference)
  return operationKey === undefined
    ? undefined
    : bookings.find((booking) => booking.operationKey === operationKey && !isForgotten(booking.at, now))
}

/** The 409 error for a request whose reference is already booked on the order with another amount. */
export const otherAmount = (order: StoredOrder, reference: string, cents: number): EventRefused =>
  refusedByState(
    order,
    `This order already has a booking of ${cents} cents with the external_reference "${reference}". Send the same amount, or use another reference.`,
  )
