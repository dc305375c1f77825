import { type CheckoutEvent, checkedOut, paid, type RefundEvent, received, refundSettled } from "./changes.ts"
import type { OrderContext, Payment } from "./context.ts"
import {
  cancelledEvents,
  cartEvents,
  changedEvents,
  codeUses,
  expiringEvents,
  expiryNotice,
  grants,
  holdClaims,
  keptNotice,
  paidClaims,
  paidEvents,
  receipt,
  releasedEvents,
  releases,
} from "./effects.ts"
import { journal } from "./money.ts"

/** The effects an order's transitions name, each with what it hands to the turn's statement. */

interface Args {
  readonly context: OrderContext
}

export const tell = (status: string) =>
  ({ type: "events", params: ({ context }: Args) => changedEvents(context, status) }) as const
export const release = { type: "releases", params: ({ context }: Args) => releases(context) } as const
export const returnUses = { type: "uses", params: ({ context }: Args) => codeUses(context, -1) } as const
export const takeUses = { type: "uses", params: ({ context }: Args) => codeUses(context, 1) } as const
export const hold = { type: "claims", params: ({ context }: Args) => holdClaims(context) } as const

/** Books come first in a transition: they are the difference to what is assigned after them. */
interface Paying extends Args {
  readonly event: { readonly payment: Payment; readonly at: string; readonly email?: string }
}
export const bookReceived = {
  type: "ledger",
  params: ({ context, event }: Paying) =>
    journal(context, received(context, event.payment), event.payment.fact),
} as const
export const bookPaid = {
  type: "ledger",
  params: ({ context, event }: Paying) =>
    journal(context, paid(received(context, event.payment), event.at), event.payment.fact),
} as const
export const bookPaidInCash = {
  type: "ledger",
  params: ({ context, event }: Args & { readonly event: CheckoutEvent & Paying["event"] }) =>
    journal(context, paid(received(checkedOut(context, event), event.payment), event.at), event.payment.fact),
} as const
/** Paid by what was there before: a credit, or nothing for a price of nothing. */
export const bookSettled = {
  type: "ledger",
  params: ({ context, event }: Args & { readonly event: CheckoutEvent }) =>
    journal(context, paid(checkedOut(context, event), event.at), `order:${context.id}:paid`),
} as const
export const takeFreeIds = {
  type: "free_ids",
  params: ({ context, event }: Args & { readonly event: { readonly freeIds: number } }) =>
    event.freeIds === 0 ? [] : [{ user_id: context.userId, count: event.freeIds }],
} as const

export const bookRefund = {
  type: "ledger",
  params: ({ context, event }: Args & { readonly event: RefundEvent }) =>
    journal(context, refundSettled(context, event), `refund:${event.refundId}`),
} as const
export const bookReturned = {
  type: "ledger",
  params: ({ context, event }: Args & { readonly event: RefundEvent }) =>
    journal(context, refundSettled(context, event), `refund:${event.refundId}:returned`),
} as const

export const tellPaid = { type: "events", params: ({ context }: Args) => paidEvents(context) } as const
export const tellCancelled = {
  type: "events",
  params: ({ context }: Args) => cancelledEvents(context),
} as const
export const tellEnding = { type: "events", params: ({ context }: Args) => expiringEvents(context) } as const
export const tellReleased = {
  type: "events",
  params: ({ context }: Args) => releasedEvents(context),
} as const
/** To those who look at this order, and at the cart while it is one. */
export const tellOrder = (type: string) =>
  ({
    type: "events",
    params: ({ context }: Args) => [
      { channel: `order:${context.id}`, type, data: { order_id: context.id } },
      ...cartEvents(context),
    ],
  }) as const

export const own = { type: "claims", params: ({ context }: Args) => paidClaims(context) } as const
export const grant = { type: "grants", params: ({ context }: Args) => grants(context) } as const
export const mailReceipt = { type: "mail", params: ({ context }: Args) => receipt(context) } as const
export const mailExpiry = { type: "mail", params: ({ context }: Args) => expiryNotice(context) } as const
export const mailKept = {
  type: "mail",
  params: ({ context, event }: Paying) => keptNotice(context, event),
} as const
