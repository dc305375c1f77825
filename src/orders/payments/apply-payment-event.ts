import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { OrderActors, type OrderSnapshot } from "../../../actors/order.ts"
import type { Intent, OrderContext, OrderEvent, Payment } from "../../../machines/orders/context.ts"
import { type EventRefused, Unavailable } from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import { isUuid } from "../../../schema/wire-format.ts"
import { Parties } from "../../accounts/party-store.ts"
import { FailPoints } from "../../config/fail-points.ts"
import { Lootboxes } from "../../lootboxes/lootboxes.ts"
import { findBooked, otherAmount } from "../booked.ts"
import { storedOf } from "../cart/cart.ts"
import { makeLedgerStore } from "../ledger-store.ts"
import type { StoredOrder } from "../order-store.ts"
import { Refunds } from "../refunds/refunds.ts"
import { PaymentMethods } from "./payment-method-store.ts"
import { Payments } from "./payments.ts"
import type { PaymentEvent } from "./port.ts"

type EventOf<K extends PaymentEvent["kind"]> = Extract<PaymentEvent, { kind: K }>
type RefundEvent = EventOf<"refunded" | "refund_failed">

/** The order knows this already. */
class AlreadyApplied {
  readonly _tag = "AlreadyApplied"
}

interface Paid extends Pick<Payment, "intentId" | "provider"> {
  readonly attempt: number | undefined
}

/** What was paid needs no end: its provider would be asked in vain. */
const isPaidBy = (offered: Intent | undefined, { attempt, intentId, provider }: Paid): boolean =>
  offered !== undefined &&
  (offered.intentId === intentId || (offered.provider === provider && offered.attempt === attempt))

const unknownOrder = (orderId: string) => Effect.logWarning("a provider tells of an unknown order", orderId)

/**
 * What providers tell, applied to orders. They tell at least once, in any order and late; each fact counts once: the order
 * remembers it, and where two processes hear it at the same time the journal's unique reference lets one through.
 */
export class PaymentEvents extends Context.Service<
  PaymentEvents,
  {
    apply(event: PaymentEvent): Effect.Effect<void, Unavailable>
    /** Books a payment that an administrator vouches for. The same reference is one payment of the order. */
    vouch(
      orderId: string,
      payment: { readonly cents: number; readonly externalReference: string },
    ): Effect.Effect<void, EventRefused | Unavailable>
  }
>()("directory/PaymentEvents") {
  static readonly layer = Layer.effect(
    PaymentEvents,
    Effect.gen(function* () {
      const actors = yield* OrderActors
      const boxes = yield* Lootboxes
      const payments = yield* Payments
      const methods = yield* PaymentMethods
      const parties = yield* Parties
      const refunds = yield* Refunds
      const failPoints = yield* FailPoints
      const ledger = yield* makeLedgerStore

      const addressOf = Effect.fnUntraced(function* (userId: string) {
        const party = yield* parties.find(userId)
        return party?.email == null || party.invited || party.unproven ? {} : { email: party.email }
      })

      /** A box that holds something else by now is not what was offered at this price. */
      const hasOtherBoxes = Effect.fnUntraced(function* ({ checkout, items }: OrderContext) {
        for (const { lootboxId } of items) {
          if (lootboxId !== undefined && (yield* boxes.isRevisedSince(lootboxId, checkout?.at ?? "")))
            return true
        }
        return false
      })

      const decideCapture = Effect.fnUntracedEager(function* (
        snapshot: OrderSnapshot,
        payment: Payment,
        idsFree: boolean,
      ) {
        const { context, value } = snapshot
        if (context.payments.some(({ fact }) => fact === payment.fact))
          return yield* Effect.fail(new AlreadyApplied())
        const { externalReference = "" } = payment
        const booked = findBooked(context.payments, payment.externalReference, undefined, 0)
        if (booked !== undefined)
          return yield* Effect.fail(
            booked.cents === payment.cents
              ? new AlreadyApplied()
              : otherAmount(storedOf(snapshot), externalReference, booked.cents),
          )
        // Of ids the database says so by itself; boxes are handed over later.
        const mayBeLate = value === "Cancelled" || context.items.some(({ type }) => type === "LootBox")
        // What is still free is no use to somebody who left meanwhile.
        const isTooLate =
          mayBeLate &&
          ((yield* parties.isGone(context.userId)) ||
            (value === "Cancelled" && (yield* hasOtherBoxes(context))))
        yield* failPoints.pass("payment.before_commit")
        return {
          type: "payment.captured",
          payment,
          idsFree: idsFree && !isTooLate,
          at: payment.at,
          ...(value === "PendingPayment" ? {} : yield* addressOf(context.userId)),
        } satisfies OrderEvent as OrderEvent
      })

      const captureTurn = (orderId: string, payment: Omit<Payment, "at">, idsFree: boolean) => {
        let offered: Intent | undefined
        let wasAwaited = false
        const turn = actors.turn(orderId, ({ snapshot }, now) => {
          offered = snapshot.context.intent
          wasAwaited = snapshot.value === "PendingPayment"
          return decideCapture(snapshot, { at: isoTime(now), ...payment }, idsFree)
        })
        return Effect.map(turn, ({ snapshot }) => {
          const order = storedOf(snapshot)
          const isOver = order.status === "Paid" || (wasAwaited && order.status === "Cancelled")
          return { offered, order, isOver }
        })
      }

      /** What was offered to pay and is not due any more is withdrawn. */
      const offerRest = Effect.fnUntracedEager(function* (
        {
          isOver,
          offered,
          order,
        }: { readonly offered: Intent | undefined; readonly order: StoredOrder; readonly isOver: boolean },
        paid: Paid,
      ) {
        if (isOver && !isPaidBy(offered, paid)) yield* payments.abandon(offered)
        yield* payments.offerAnew(offered, order)
      })

      const receive = Effect.fnUntraced(function* (
        orderId: string,
        payment: Omit<Payment, "at">,
        attempt?: number,
      ) {
        const settled = yield* captureTurn(orderId, payment, true).pipe(
          // A cancelled order whose ids, or the uses of whose code, have gone to others, or an order whose buyer has gone:
          // the money is kept for its buyer.
          Effect.catchTags({
            IdsTaken: () => captureTurn(orderId, payment, false),
            LimitReached: () => captureTurn(orderId, payment, false),
          }),
          Effect.catchTags({
            AlreadyApplied: () => Effect.succeed(undefined),
            UniqueConflict: ({ constraint }) =>
              constraint === "journal_reference" ? Effect.succeed(undefined) : Effect.die(constraint),
            NotFound: () => Effect.as(unknownOrder(orderId), undefined),
            IdsTaken: Effect.die,
            LimitReached: Effect.die,
          }),
        )
        yield* failPoints.pass("payment.after_commit")
        if (settled !== undefined) yield* offerRest(settled, { attempt, ...payment })
      })

      const declined = ({ orderId, reason }: EventOf<"declined">) =>
        actors
          .turn(orderId, (_, now) => Effect.succeed({ type: "payment.declined", reason, at: isoTime(now) }))
          .pipe(
            Effect.catchTags({
              // The order does not wait for a payment any more.
              EventRefused: () => Effect.void,
              NotFound: () => unknownOrder(orderId),
              IdsTaken: Effect.die,
              LimitReached: Effect.die,
              UniqueConflict: Effect.die,
            }),
          )

      /** Whether a payment nobody told of is for an order of ours: then it is still on its way. */
      const isAwaited = Effect.fnUntraced(function* ({ intentId, provider }: RefundEvent) {
        const orderId = yield* payments.find(provider)?.findOrder?.(intentId) ?? Effect.succeed(undefined)
        return orderId !== undefined && isUuid(orderId) && (yield* actors.find(orderId)) !== undefined
      })

      const refunded = Effect.fnUntraced(function* (event: RefundEvent) {
        const orderId = event.orderId ?? (yield* ledger.findOrderOfPayment(event.paymentFact))
        if (orderId === undefined)
          return (yield* isAwaited(event))
            ? yield* new Unavailable({ error: "Tell of the payment first.", retryAfterSeconds: 60 })
            : yield* unknownOrder(event.paymentFact)
        yield* refunds.applyEvent({ ...event, orderId, isFailed: event.kind === "refund_failed" })
      })

      const methodUsed = Effect.fnUntraced(function* ({ method, orderId, provider }: EventOf<"method_used">) {
        const order = yield* actors.find(orderId)
        if (order !== undefined) yield* methods.remember(order.snapshot.context.userId, provider, method)
      })

      return PaymentEvents.of({
        vouch: (orderId, payment) =>
          receive(orderId, { fact: `override:${randomUUID()}`, provider: "cash", ...payment }),
        apply: (event) => {
          if (event.orderId !== undefined && !isUuid(event.orderId)) return unknownOrder(event.orderId)
          switch (event.kind) {
            case "captured":
              return receive(
                event.orderId,
                {
                  fact: event.fact,
                  provider: event.provider,
                  intentId: event.intentId,
                  cents: event.cents,
                },
                event.attempt,
              ).pipe(Effect.catchTag("EventRefused", Effect.die))
            case "declined":
              return Effect.asVoid(declined(event))
            case "refunded":
            case "refund_failed":
              return refunded(event)
            case "method_used":
              return methodUsed(event)
          }
        },
      })
    }),
  )
}
