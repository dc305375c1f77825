import {
  type CheckoutEvent,
  type Event,
  paid,
  paidInCash,
  type RefundEvent,
  received,
  refundSettled,
  settled,
} from "./changes.ts"
import type { OrderContext, Payment } from "./context.ts"
import {
  boxSales,
  cancelledEvents,
  cartEvents,
  changedEvents,
  codeUse,
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
  returnedUses,
  usesAgain,
} from "./effects.ts"
import { journal } from "./money.ts"
import { boxReturns, type RefundMade, revokeEvents, revokes } from "./releases.ts"

/** The actions of the order machine. Each action computes one kind of effect, which the turn commits. */

interface Args {
  readonly context: OrderContext
}
interface Paying extends Args {
  readonly event: { readonly payment: Payment; readonly at: string; readonly email?: string }
}

export const releaseIds = { type: "releases", params: ({ context }: Args) => releases(context) } as const
export const holdIds = { type: "claims", params: ({ context }: Args) => holdClaims(context) } as const
export const claimOwned = { type: "claims", params: ({ context }: Args) => paidClaims(context) } as const
export const sellBoxes = { type: "joined", params: ({ context }: Args) => boxSales(context) } as const
export const grantIds = { type: "grants", params: ({ context }: Args) => grants(context) } as const

interface Refunded extends Args {
  readonly event: RefundMade
}
export const revokeIds = {
  type: "revokes",
  params: ({ context, event }: Refunded) => revokes(context, event),
} as const
export const takeBoxesBack = {
  type: "joined",
  params: ({ context, event }: Refunded) => boxReturns(context, event),
} as const
export const publishRevoked = {
  type: "events",
  params: ({ context, event }: Refunded) => revokeEvents(context, event),
} as const

export const returnCodeUses = { type: "uses", params: ({ context }: Args) => returnedUses(context) } as const
export const useCodes = { type: "uses", params: ({ context }: Args) => usesAgain(context) } as const
export const usePromoCode = {
  type: "uses",
  params: ({ context, event: { code, discounts } }: Args & { readonly event: Event<"promo_code"> }) => [
    codeUse(context, code, discounts),
  ],
} as const
export const useActivation = {
  type: "uses",
  params: ({ context, event: { activation, code, items } }: Args & { readonly event: Event<"activate"> }) => [
    { ...codeUse(context, code, items), ...(activation === undefined ? {} : { activation }) },
  ],
} as const
export const useFreeIds = {
  type: "free_ids",
  params: ({ context, event }: Args & { readonly event: Event<"checkout.free"> }) =>
    event.freeIds === 0 ? [] : [{ user_id: context.userId, count: event.freeIds }],
} as const

// In a transition, a ledger action must stand before the assign action: it computes the difference between the order
// before the change and the order after the change.
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
  params: ({ context, event }: Args & { readonly event: Event<"checkout.cash"> }) =>
    journal(context, paidInCash(context, event), event.payment.fact),
} as const
/** Books a sale for which no payment arrives in this turn: earlier payments cover the price, or the price is zero. */
export const bookSettled = {
  type: "ledger",
  params: ({ context, event }: Args & { readonly event: CheckoutEvent }) =>
    journal(context, settled(context, event), `order:${context.id}:paid`),
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

export const publishChange = (status: string) =>
  ({ type: "events", params: ({ context }: Args) => changedEvents(context, status) }) as const
/** Publishes a change of a draft. Its totals do not contain items that others have taken. */
export const publishDraft = {
  type: "events",
  params: ({ context, event }: Args & { readonly event: { readonly taken?: ReadonlyArray<string> } }) =>
    changedEvents(context, "Draft", event.taken),
} as const
export const publishPaid = { type: "events", params: ({ context }: Args) => paidEvents(context) } as const
export const publishCancelled = {
  type: "events",
  params: ({ context }: Args) => cancelledEvents(context),
} as const
export const publishExpiring = {
  type: "events",
  params: ({ context }: Args) => expiringEvents(context),
} as const
export const publishReleased = {
  type: "events",
  params: ({ context }: Args) => releasedEvents(context),
} as const
/** Publishes an event to the order's channel and, while the order is open, to the buyer's cart channel. */
export const publishOrder = (type: string) =>
  ({
    type: "events",
    params: ({ context }: Args) => [
      { channel: `order:${context.id}`, type, data: { order_id: context.id } },
      ...cartEvents(context),
    ],
  }) as const

export const mailReceipt = { type: "mail", params: ({ context }: Args) => receipt(context) } as const
export const mailExpiry = { type: "mail", params: ({ context }: Args) => expiryNotice(context) } as const
export const mailPaymentKept = {
  type: "mail",
  params: ({ context, event }: Paying) => keptNotice(context, event),
} as const
