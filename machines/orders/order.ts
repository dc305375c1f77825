import { assign, setup } from "xstate"
import { effectActions } from "../effects.ts"
import {
  bookPaid,
  bookPaidInCash,
  bookReceived,
  bookRefund,
  bookReturned,
  bookSettled,
  grant,
  hold,
  mailExpiry,
  mailKept,
  mailReceipt,
  own,
  release,
  returnUses,
  takeFreeIds,
  takeUses,
  tell,
  tellCancelled,
  tellEnding,
  tellOrder,
  tellPaid,
  tellReleased,
} from "./actions.ts"
import * as change from "./changes.ts"
import type { OrderContext, OrderEvent, OrderInput } from "./context.ts"
import { orderGuards } from "./guards.ts"

/** For the actor that stands in for all orders and never runs. */
const noInput: OrderInput = { id: "", userId: "", createdAt: "" }

/**
 * The life of an order. Draft holds nothing, PendingPayment holds its ids for a while, Paid has them for good.
 * Money is taken note of in every state: a provider tells us late, twice and out of order.
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
    // Money that finds no order to pay for is kept for the buyer, whatever the state.
    "payment.captured": {
      actions: [
        bookReceived,
        assign(({ context, event }) => change.received(context, event.payment)),
        tellOrder("order.payment_received"),
        mailKept,
      ],
    },
    refund: {
      guard: "isRefundable",
      actions: [
        assign(({ context, event }) => change.refundBegun(context, event)),
        tellOrder("order.changed"),
      ],
    },
    "refund.taken_on": {
      guard: "isRefundPending",
      actions: assign(({ context, event }) => change.refundTakenOn(context, event)),
    },
    "refund.made": {
      guard: "isRefundPending",
      actions: [
        bookRefund,
        assign(({ context, event }) => change.refundSettled(context, event)),
        tellOrder("order.refunded"),
      ],
    },
    "refund.failed": {
      guard: "isRefundPending",
      actions: [
        assign(({ context, event }) => change.refundSettled(context, event)),
        tellOrder("order.changed"),
      ],
    },
    // The buyer's bank sent it back, days after the provider called it made.
    "refund.returned": {
      guard: "isRefundMade",
      actions: [
        bookReturned,
        assign(({ context, event }) => change.refundSettled(context, event)),
        tellOrder("order.changed"),
      ],
    },
  },
  states: {
    Draft: {
      on: {
        add: {
          guard: "hasItems",
          actions: [assign(({ context, event }) => change.added(context, event)), tell("Draft")],
        },
        remove: {
          guard: "hasItem",
          actions: [assign(({ context, event }) => change.removed(context, event)), tell("Draft")],
        },
        clear: { actions: [assign(({ context, event }) => change.cleared(context, event)), tell("Draft")] },
        "checkout.payment": [
          {
            guard: "isCovered",
            target: "Paid",
            actions: [
              bookSettled,
              assign(({ context, event }) => change.paid(change.checkedOut(context, event), event.at)),
            ],
          },
          {
            guard: "hasItems",
            target: "PendingPayment",
            actions: [
              assign(({ context, event }) => change.checkedOut(context, event)),
              hold,
              tell("PendingPayment"),
            ],
          },
        ],
        "checkout.hold": {
          guard: "hasItems",
          target: "PendingPayment",
          actions: [
            assign(({ context, event }) => change.checkedOut(context, event)),
            hold,
            tell("PendingPayment"),
          ],
        },
        "checkout.free": {
          guard: "isFree",
          target: "Paid",
          actions: [
            takeFreeIds,
            bookSettled,
            assign(({ context, event }) => change.paid(change.checkedOut(context, event), event.at)),
          ],
        },
        "checkout.cash": [
          {
            guard: "isPaidInCash",
            target: "Paid",
            actions: [bookPaidInCash, assign(({ context, event }) => change.paidInCash(context, event))],
          },
          {
            guard: "hasItems",
            actions: [
              bookReceived,
              assign(({ context, event }) =>
                change.received({ ...context, items: event.items }, event.payment),
              ),
              tell("Draft"),
            ],
          },
        ],
        activate: {
          guard: "isActivation",
          target: "PendingPayment",
          actions: [
            {
              type: "uses",
              params: ({ context, event: { activation, code } }) => [
                {
                  code_id: code.codeId,
                  user_id: context.userId,
                  count: code.count,
                  ...(activation === undefined ? {} : { activation }),
                },
              ],
            },
            assign(({ context, event }) => change.activated(context, event)),
            hold,
            tell("PendingPayment"),
          ],
        },
      },
    },
    PendingPayment: {
      on: {
        // A code, or a refund that failed, may leave nothing due of what was paid in part.
        "checkout.payment": {
          guard: "isCovered",
          target: "Paid",
          actions: [
            bookSettled,
            assign(({ context, event }) => change.paid(change.checkedOut(context, event), event.at)),
          ],
        },
        "checkout.free": {
          guard: "isFree",
          target: "Paid",
          actions: [
            takeFreeIds,
            bookSettled,
            assign(({ context, event }) => change.paid(change.checkedOut(context, event), event.at)),
          ],
        },
        "checkout.cash": [
          {
            guard: "isPaidInCash",
            target: "Paid",
            actions: [bookPaidInCash, assign(({ context, event }) => change.paidInCash(context, event))],
          },
          {
            actions: [
              bookReceived,
              assign(({ context, event }) => change.receivedInPart(context, event.payment)),
              tell("PendingPayment"),
            ],
          },
        ],
        promo_code: {
          actions: [
            {
              type: "uses",
              params: ({ context, event }) => [
                { code_id: event.code.codeId, user_id: context.userId, count: event.code.count },
              ],
            },
            assign(({ context, event }) => change.discounted(context, event)),
            tell("PendingPayment"),
          ],
        },
        "intent.made": {
          guard: "isCurrentIntent",
          actions: [
            assign(({ event }) => ({ intent: event.intent, updatedAt: event.at })),
            tellOrder("order.changed"),
          ],
        },
        convert_to_draft: {
          target: "Draft",
          actions: [
            release,
            tellReleased,
            returnUses,
            assign(({ context, event }) => change.drafted(context, event)),
            tell("Draft"),
          ],
        },
        cancel: {
          target: "Cancelled",
          actions: assign(({ context, event }) => change.cancelled(context, event, "deleted")),
        },
        deadline: [
          {
            guard: "isOver",
            target: "Cancelled",
            actions: assign(({ context, event }) => change.cancelled(context, event, "expired")),
          },
          {
            guard: "isEnding",
            actions: [assign(({ context }) => change.warned(context)), tellEnding],
          },
        ],
        "payment.captured": [
          {
            guard: "isPaidAndFree",
            target: "Paid",
            actions: [
              bookPaid,
              assign(({ context, event }) => change.paid(change.received(context, event.payment), event.at)),
            ],
          },
          // Nobody is there any more to have what it pays for.
          {
            guard: "isForNobody",
            target: "Cancelled",
            actions: [
              bookReceived,
              assign(({ context, event }) =>
                change.cancelled(change.received(context, event.payment), event, "deleted"),
              ),
            ],
          },
          {
            actions: [
              bookReceived,
              assign(({ context, event }) => change.receivedInPart(context, event.payment)),
              tell("PendingPayment"),
            ],
          },
        ],
        // What goes back is due again, and what did not go back is not.
        refund: {
          guard: "isRefundable",
          actions: [
            assign(({ context, event }) => change.reoffered(context, change.refundBegun(context, event))),
            tell("PendingPayment"),
          ],
        },
        "refund.failed": {
          guard: "isRefundPending",
          actions: [
            assign(({ context, event }) => change.reoffered(context, change.refundSettled(context, event))),
            tell("PendingPayment"),
          ],
        },
        "refund.returned": {
          guard: "isRefundMade",
          actions: [
            bookReturned,
            assign(({ context, event }) => change.reoffered(context, change.refundSettled(context, event))),
            tell("PendingPayment"),
          ],
        },
        "payment.declined": {
          actions: [
            assign(({ event }) => ({ declined: event.reason, updatedAt: event.at })),
            tell("PendingPayment"),
          ],
        },
      },
    },
    Cancelled: {
      entry: [release, returnUses, tellCancelled, mailExpiry],
      on: {
        "payment.captured": [
          {
            guard: "isPaidAndFree",
            target: "Paid",
            actions: [takeUses, bookPaid, assign(({ context, event }) => change.paidLate(context, event))],
          },
          {
            actions: [
              bookReceived,
              assign(({ context, event }) => change.received(context, event.payment)),
              tell("Cancelled"),
              mailKept,
            ],
          },
        ],
      },
    },
    Paid: {
      entry: [own, grant, tellPaid, mailReceipt],
      on: {
        delivered: {
          guard: "isUndelivered",
          actions: assign(({ context, event }) => change.handedOver(context, event)),
        },
      },
    },
  },
})
