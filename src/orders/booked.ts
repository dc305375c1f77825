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
 * Finds the payment or refund that an earlier request booked. A reference identifies a booking of the order for good.
 * Without a reference an Idempotency-Key identifies it for a day. Without both, each request is a new booking.
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

/** The 409 for a reference that the order already uses for another amount. */
export const otherAmount = (order: StoredOrder, reference: string, cents: number): EventRefused =>
  refusedByState(
    order,
    `This order already has a booking of ${cents} cents with the external_reference "${reference}". Send the same amount, or use another reference.`,
  )
