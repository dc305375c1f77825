import { Effect } from "effect"
import { CurrentOperation } from "../../actors/operation.ts"
import { keySeconds, uuidOf } from "../turns/operation-key.ts"

// Remove this file after the next release. Release 0.2.0 stored the identity of a request in the booking, and no outcome
// with the Idempotency-Key. If its process died after the commit, the retry can reach a process of this release, which
// must not book the money again.

interface FormerBooking {
  readonly at: string
  readonly operationKey?: string
}

/**
 * The identity that release 0.2.0 gave the current request, or undefined if it has no Idempotency-Key. `facts` are the
 * contents of the request, exactly as that release passed them.
 */
export const formerOperationKey = (...facts: ReadonlyArray<unknown>): Effect.Effect<string | undefined> =>
  Effect.map(CurrentOperation, (operation) => {
    if (operation === undefined) return undefined
    const userId = operation.caller.slice(operation.caller.indexOf("/") + 1)
    return uuidOf("run", userId, operation.key, JSON.stringify(facts))
  })

/** Finds the payment or refund that release 0.2.0 booked for this request. */
export const findFormerlyBooked = <B extends FormerBooking>(
  bookings: ReadonlyArray<B>,
  operationKey: string | undefined,
  now: number,
): B | undefined =>
  operationKey === undefined
    ? undefined
    : bookings.find(
        (booking) =>
          booking.operationKey === operationKey && now - Date.parse(booking.at) <= 1000 * keySeconds,
      )
