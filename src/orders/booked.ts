import type { EventRefused } from "../../schema/errors.ts"
import type { StoredOrder } from "./order-store.ts"
import { refusedByState } from "./refusals.ts"

/**
 * Finds the payment or refund that an earlier request with this reference booked on the order. Undefined if there is
 * none, or if the request has no reference.
 */
export const findBooked = <B extends { readonly externalReference?: string }>(
  bookings: ReadonlyArray<B>,
  externalReference: string | null | undefined,
): B | undefined =>
  externalReference == null
    ? undefined
    : bookings.find((booking) => booking.externalReference === externalReference)

/** The 409 error for a request whose reference is already booked on the order with another amount. */
export const otherAmount = (order: StoredOrder, reference: string, cents: number): EventRefused =>
  refusedByState(
    order,
    `This order already has a booking of ${cents} cents with the external_reference "${reference}". Send the same amount, or use another reference.`,
  )
