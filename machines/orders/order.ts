import { assign, setup } from "xstate"
import { effectActions } from "../effects.ts"
import {
  bookPaid,
  bookPaidInCash,
  bookReceived,
  bookRefund,
  bookReturned,
  bookSettled,
  claimOwned,
  grantIds,
  holdIds,
  mailExpiry,
  mailPaymentKept,
  mailReceipt,
  publishCancelled,
  publishChange,
  publishDraft,
  publishExpiring,
  publishOrder,
  publishPaid,
  publishReleased,
  publishRevoked,
  releaseIds,
  returnCodeUses,
  revokeIds,
  sellBoxes,
  takeBoxesBack,
  useActivation,
  useCodes,
  useFreeIds,
  usePromoCode,
} from "./actions.ts"
import * as change from "./changes.ts"
import type { OrderContext, OrderEvent, OrderInput } from "./context.ts"
import { orderGuards } from "./guards.ts"

/** The input of the single actor that `actors/transition.ts` creates from the machine. That actor never runs. */
const noInput: OrderInput = { id: "", userId: "", createdAt: "" }

const become = <E extends OrderEvent>(apply: (order: OrderContext, event: E) => OrderContext) =>
  assign<OrderContext, E, undefined, OrderEvent, never>(({ context, event }) => apply(context, event))

// The states Draft and PendingPayment share the next three transitions. A parent state could contain them, but it would
// change the state value of stored snapshots.
const payWithCredit = {
  guard: "isSettled",
  target: "Paid",
  actions: [bookSettled, become(change.settled)],
} as const
const payFree = {
  guard: "isAccepted",
  target: "Paid",
  actions: [useFreeIds, bookSettled, become(change.settled)],
} as const
const payInCash = {
  guard: "isSettled",
  target: "Paid",
  actions: [bookPaidInCash, become(change.paidInCash)],
} as const
const holdForPayment = {
  guard: "isAccepted",
  target: "PendingPayment",
  actions: [become(change.checkedOut), holdIds, publishChange("PendingPayment")],
} as const

/**
 * The life cycle of an order. A Draft claims no ids. PendingPayment holds the ids until the hold expires. When the
 * order becomes Paid, the buyer owns the ids. Every state records payments and refunds, because providers report them
 * late, repeatedly and in any order. For the same reason Paid and Cancelled are not final states.
 */
export const orderMachine = setup({
  types: { input: {} as OrderInput, context: {} as OrderContext, events: {} as OrderEvent },
  actions: effectActions,
  guards: orderGuards,
}).createMachine({
  id: "order",
  initial: "Draft",
  context: ({ input = noInput }) => change.begun(input),
  on: {
    // A payment that arrives in Draft or Paid is recorded and does not change the state. The next checkout of a draft
    // subtracts it from the amount due.
    "payment.captured": {
      actions: [
        bookReceived,
        become(change.captured),
        publishOrder("order.payment_received"),
        mailPaymentKept,
      ],
    },
    "intent.cancelled": { guard: "isAccepted", actions: become(change.intentCancelled) },
    refund: { guard: "isAccepted", actions: [become(change.refundBegun), publishOrder("order.changed")] },
    "refund.taken_on": { guard: "isAccepted", actions: become(change.refundTakenOn) },
    "refund.made": {
      guard: "isAccepted",
      actions: [
        bookRefund,
        revokeIds,
        takeBoxesBack,
        publishRevoked,
        become(change.refundSettled),
        publishOrder("order.refunded"),
      ],
    },
    "refund.failed": {
      guard: "isAccepted",
      actions: [become(change.refundSettled), publishOrder("order.changed")],
    },
    // The buyer's bank can return the money of a refund days after the provider reported the refund as made.
    "refund.returned": {
      guard: "isAccepted",
      actions: [bookReturned, become(change.refundSettled), publishOrder("order.changed")],
    },
  },
  states: {
    Draft: {
      on: {
        add: { guard: "isAccepted", actions: [become(change.added), publishDraft] },
        remove: { guard: "isAccepted", actions: [become(change.removed), publishDraft] },
        clear: { actions: [become(change.cleared), publishChange("Draft")] },
        "checkout.payment": [payWithCredit, holdForPayment],
        "checkout.hold": holdForPayment,
        "checkout.free": payFree,
        "checkout.cash": [
          payInCash,
          {
            guard: "isAccepted",
            actions: [bookReceived, become(change.partPaidDraft), publishChange("Draft")],
          },
        ],
        activate: {
          guard: "isAccepted",
          target: "PendingPayment",
          actions: [useActivation, become(change.activated), holdIds, publishChange("PendingPayment")],
        },
      },
    },
    PendingPayment: {
      on: {
        "checkout.payment": [
          // A discount code or a failed refund can reduce the amount due to zero if a part is already paid. A checkout
          // then pays the order.
          payWithCredit,
          {
            guard: "changesMethod",
            actions: [become(change.methodChanged), publishChange("PendingPayment")],
          },
        ],
        "checkout.free": payFree,
        "checkout.cash": [
          payInCash,
          { actions: [bookReceived, become(change.partPaid), publishChange("PendingPayment")] },
        ],
        promo_code: { actions: [usePromoCode, become(change.discounted), publishChange("PendingPayment")] },
        "intent.made": {
          guard: "isAccepted",
          actions: [become(change.offered), publishOrder("order.changed")],
        },
        convert_to_draft: {
          target: "Draft",
          actions: [
            releaseIds,
            publishReleased,
            returnCodeUses,
            become(change.drafted),
            publishChange("Draft"),
          ],
        },
        cancel: { target: "Cancelled", actions: become(change.deleted) },
        deadline: [
          { guard: "isExpired", target: "Cancelled", actions: become(change.expired) },
          { guard: "isExpiring", actions: [become(change.warned), publishExpiring] },
        ],
        "payment.captured": [
          { guard: "isPaidAndFree", target: "Paid", actions: [bookPaid, become(change.capturedInFull)] },
          // The ids cannot be granted, for example because the buyer's account was deleted.
          {
            guard: "cannotGrant",
            target: "Cancelled",
            actions: [bookReceived, become(change.capturedInVain)],
          },
          { actions: [bookReceived, become(change.partPaid), publishChange("PendingPayment")] },
        ],
        // A refund can change the amount due. The intent then has the wrong amount and is removed.
        refund: {
          guard: "isAccepted",
          actions: [become(change.reoffered(change.refundBegun)), publishChange("PendingPayment")],
        },
        "refund.failed": {
          guard: "isAccepted",
          actions: [become(change.reoffered(change.refundSettled)), publishChange("PendingPayment")],
        },
        "refund.returned": {
          guard: "isAccepted",
          actions: [
            bookReturned,
            become(change.reoffered(change.refundSettled)),
            publishChange("PendingPayment"),
          ],
        },
        "payment.declined": { actions: [become(change.declined), publishChange("PendingPayment")] },
      },
    },
    Cancelled: {
      entry: [releaseIds, returnCodeUses, publishCancelled, mailExpiry],
      on: {
        "payment.captured": [
          {
            guard: "isPaidAndFree",
            target: "Paid",
            actions: [useCodes, bookPaid, become(change.paidLate)],
          },
          {
            actions: [bookReceived, become(change.captured), publishChange("Cancelled"), mailPaymentKept],
          },
        ],
      },
    },
    Paid: {
      entry: [claimOwned, grantIds, sellBoxes, publishPaid, mailReceipt],
      on: { delivered: { guard: "isAccepted", actions: become(change.handedOver) } },
    },
  },
})
