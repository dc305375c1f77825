import { randomUUID } from "node:crypto"
import { Effect, type Types } from "effect"
import type { Checkout, OrderEvent, OrderItem } from "../../../machines/orders/context.ts"
import { paysOrder } from "../../../machines/orders/guards.ts"
import { dueCents, totalCents } from "../../../machines/orders/money.ts"
import type { DisplayUser } from "../../../schema/accounts/user.ts"
import { type EventRefused, Unprocessable } from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import type { CheckoutCartRequest } from "../../../schema/orders/order.ts"
import type { OrganizationFees } from "../../../schema/organizations/organization.ts"
import { findBooked, otherAmount } from "../booked.ts"
import { findFormerlyBooked } from "../former-operation-key.ts"
import type { StoredOrder } from "../order-store.ts"
import { notFree } from "../refusals.ts"
import { freeDiscounts } from "./discounts.ts"

/** All data that the decision about a checkout uses. */
export interface CheckoutInput {
  readonly order: StoredOrder
  /** The items of the order. A draft has current prices; a pending order has the prices of its first checkout. */
  readonly items: ReadonlyArray<OrderItem>
  readonly at: string
  readonly user: DisplayUser
  readonly request: CheckoutCartRequest
  /** The pubkey of the request, if it names one. */
  readonly requestedKey: string | undefined
  readonly defaultKey: string
  readonly organizationId: string | undefined
  readonly fees: OrganizationFees | undefined
  readonly ttlSeconds: number
  readonly formerKey: string | undefined
}

/**
 * Signals that the order already has this cash payment. The checkout then returns the order instead of this error.
 */
export const cashBooked = new Unprocessable({
  error: "This cash payment is already recorded.",
  fields: { amount: [{ code: "taken_before", message: "The order already has this payment." }] },
})

const hasFees = ({ clientBasisPoints, companyBasisPoints }: OrganizationFees): boolean =>
  clientBasisPoints > 0 || companyBasisPoints > 0

const checkoutOf = ({
  at,
  defaultKey,
  fees,
  order,
  organizationId,
  request,
  requestedKey,
  user,
}: CheckoutInput): Checkout => {
  const before = order.context.checkout
  // A second checkout of a pending order can come from an administrator. If it names no partner, the order keeps the
  // partner of the first checkout. If it names no key, the order keeps the key of the first checkout, provided that the
  // user still has this key.
  const partner = organizationId ?? before?.organizationId
  const chosenKey = user.pubkeys.find((key) => key === before?.pubkey)
  const checkout: Types.Mutable<Checkout> = {
    method: request.method,
    at,
    pubkey: requestedKey ?? chosenKey ?? defaultKey,
  }
  if (user.email !== undefined) checkout.email = user.email
  if (request.success_url != null) checkout.successUrl = request.success_url
  if (request.cancel_url != null) checkout.cancelUrl = request.cancel_url
  if (partner !== undefined) checkout.organizationId = partner
  // A pending order keeps the fees of its first checkout, like its prices.
  const applied = before !== undefined && before.organizationId === partner ? before.fees : fees
  if (applied !== undefined && hasFees(applied)) checkout.fees = applied
  return checkout
}

const decideFree = (
  { at, items, order, user }: CheckoutInput,
  checkout: Checkout,
): Effect.Effect<OrderEvent, Unprocessable> => {
  // If earlier payments cover the price, the order becomes paid without using free ids.
  if (totalCents(items) > 0 && dueCents({ ...order.context, items }) === 0)
    return Effect.succeed({ type: "checkout.payment", at, items, checkout })
  const waived = freeDiscounts(items, at)
  if (waived.length > user.remaining_free_emoji) return Effect.fail(notFree(user.remaining_free_emoji))
  const freeIds = waived.length
  return Effect.succeed({ type: "checkout.free", at, items: [...items, ...waived], checkout, freeIds })
}

const decideCash = (
  { at, formerKey, items, order, request }: CheckoutInput,
  checkout: Checkout,
): Effect.Effect<OrderEvent, EventRefused | Unprocessable> => {
  const { amount, external_reference: reference } = request
  const { payments } = order.context
  if (reference == null && findFormerlyBooked(payments, formerKey, Date.parse(at)) !== undefined)
    return Effect.fail(cashBooked)
  const booked = findBooked(payments, reference)
  if (booked !== undefined)
    return amount == null || reference == null || booked.cents === amount
      ? Effect.fail(cashBooked)
      : Effect.fail(otherAmount(order, reference, booked.cents))
  const payment = {
    fact: `cash:${randomUUID()}`,
    provider: "cash",
    cents: amount ?? dueCents({ ...order.context, items }),
    at,
    ...(reference == null ? {} : { externalReference: reference }),
  }
  return Effect.succeed({ type: "checkout.cash", at, items, checkout, payment })
}

/**
 * Decides which event a checkout sends to its order. The function runs no queries and has no side effects.
 *
 * A lootbox can be refilled until an order holds it, and a payment cannot be undone. If a checkout of a draft would
 * pay for a lootbox, this function therefore returns `checkout.hold`, which only holds the items. The caller then
 * checks that the lootboxes did not change, and calls this function again.
 */
export const decideCheckout = (
  input: CheckoutInput,
): Effect.Effect<OrderEvent, EventRefused | Unprocessable> => {
  const { at, items, order, request, ttlSeconds } = input
  const checkout = checkoutOf(input)
  const held = { expiresAt: isoTime(Date.parse(at) + ttlSeconds * 1000), ...checkout }
  const decided =
    request.method === "Free"
      ? decideFree(input, checkout)
      : request.method === "Cash"
        ? decideCash(input, checkout)
        : Effect.succeed<OrderEvent>({ type: "checkout.payment", at, items, checkout: held })
  return Effect.mapEager(decided, (event): OrderEvent => {
    const tracking = request.tracking_data == null ? {} : { tracking: request.tracking_data }
    const holdsFirst =
      order.status === "Draft" && items.some(({ lootboxId }) => lootboxId) && paysOrder(order.context, event)
    if (holdsFirst && "items" in event)
      return { type: "checkout.hold", at, items: event.items, checkout: held }
    return { ...event, ...tracking }
  })
}
