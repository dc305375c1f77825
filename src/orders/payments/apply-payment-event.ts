import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { atMostOnce, unchanged, Written } from "../../../actors/operation.ts"
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
import { makeCleanupStore } from "../cleanup-store.ts"
import { makeLedgerStore } from "../ledger-store.ts"
import type { StoredOrder } from "../order-store.ts"
import { Refunds } from "../refunds/refunds.ts"
import { PaymentMethods } from "./payment-method-store.ts"
import { Payments } from "./payments.ts"
import type { PaymentEvent } from "./port.ts"

type EventOf<K extends PaymentEvent["kind"]> = Extract<PaymentEvent, { kind: K }>
type RefundEvent = EventOf<"refunded" | "refund_failed">

/** Signals that the event changes nothing, for example because the order already contains this payment. */
class AlreadyApplied {
  readonly _tag = "AlreadyApplied"
}

interface Paid {
  readonly provider: string
  readonly intentId?: string | undefined
  readonly attempt: number | undefined
}

/** A booked payment, as a JSON value. */
interface Captured {
  readonly order: StoredOrder
  /** The intent of the order before the payment. */
  readonly intent: Intent | undefined
  /** Whether the order needs no payment any more. */
  readonly isClosed: boolean
}

/** Whether this payment was made for the order's intent. An intent that is paid must not be cancelled. */
const isPaidBy = (offered: Intent | undefined, { attempt, intentId, provider }: Paid): boolean =>
  offered !== undefined &&
  (offered.intentId === intentId || (offered.provider === provider && offered.attempt === attempt))

/**
 * Whether an event is certainly about another intent than this one. Not certain if the provider creates the intent id
 * only when the buyer pays (the order then has the session id) and the event names no attempt.
 */
const isOfOther = (offered: Intent | undefined, { attempt, intentId, provider }: Paid): boolean => {
  if (offered === undefined || intentId === undefined) return false
  if (offered.provider !== provider) return true
  if (attempt !== undefined) return offered.attempt !== attempt
  return offered.intentId !== offered.sessionId && offered.intentId !== intentId
}

const unknownOrder = (orderId: string) => Effect.logWarning("payment event for an unknown order", orderId)

/**
 * Applies the events of payment providers to orders. An event can arrive late, more than once and in any order. A
 * payment is applied once: the order stores its `fact`, and the unique reference in the ledger rejects a concurrent
 * duplicate.
 */
export class PaymentEvents extends Context.Service<
  PaymentEvents,
  {
    apply(event: PaymentEvent): Effect.Effect<void, Unavailable>
    /**
     * Books a payment that an administrator confirms. Does nothing if no order has this id. A repeated call with the
     * same reference and amount books nothing. The same reference with another amount is refused.
     */
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
      const cleanup = yield* makeCleanupStore

      const addressOf = Effect.fnUntraced(function* (userId: string) {
        const party = yield* parties.find(userId)
        return party?.email == null || party.invited || party.unproven ? {} : { email: party.email }
      })

      /** Whether the contents of a lootbox changed after the checkout. */
      const hasChangedBoxes = Effect.fnUntraced(function* ({ checkout, items }: OrderContext) {
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
        const booked = findBooked(context.payments, payment.externalReference)
        if (booked !== undefined)
          return yield* Effect.fail(
            booked.cents === payment.cents
              ? new AlreadyApplied()
              : otherAmount(storedOf(snapshot), externalReference, booked.cents),
          )
        // The commit checks the claims, and the account that gets ids. It does not check the account that gets a
        // lootbox, so orders with a lootbox are checked here. Cancelled orders are checked here too.
        const mayBeLate = value === "Cancelled" || context.items.some(({ type }) => type === "LootBox")
        // The payment is too late if the account is deleted, because a deleted account cannot receive ids. It is also
        // too late if a lootbox changed after the order was cancelled.
        const isTooLate =
          mayBeLate &&
          ((yield* parties.isGone(context.userId)) ||
            (value === "Cancelled" && (yield* hasChangedBoxes(context))))
        yield* failPoints.pass("payment.before_commit")
        return {
          type: "payment.captured",
          payment,
          idsFree: idsFree && !isTooLate,
          at: payment.at,
          ...(value === "PendingPayment" ? {} : yield* addressOf(context.userId)),
        } satisfies OrderEvent as OrderEvent
      })

      const captureTurn = (
        orderId: string,
        payment: Omit<Payment, "at">,
        { completes, idsFree }: { readonly completes: boolean; readonly idsFree: boolean },
      ) => {
        let intent: Intent | undefined
        let wasAwaited = false
        const outcomeOf = (snapshot: OrderSnapshot): Captured => {
          const order = storedOf(snapshot)
          const isClosed = order.status === "Paid" || (wasAwaited && order.status === "Cancelled")
          return { intent, order, isClosed }
        }
        const turn = actors.turn(
          orderId,
          ({ snapshot }, now) => {
            intent = snapshot.context.intent
            wasAwaited = snapshot.value === "PendingPayment"
            return decideCapture(snapshot, { at: isoTime(now), ...payment }, idsFree)
          },
          { outcome: (next) => (completes ? outcomeOf(next) : undefined) },
        )
        return Effect.map(
          turn,
          ({ snapshot, written }) => new Written(written.outcome ?? outcomeOf(snapshot)),
        )
      }

      /**
       * If the order is now closed, cancels its intent, except when this payment paid that intent. If the payment
       * removed the intent of a pending order, creates a new intent for the amount that is still due. It can run again
       * after a crash.
       */
      const replaceUnpaid = Effect.fnUntracedEager(function* (
        { intent, isClosed, order }: Captured,
        paid: Paid,
      ) {
        if (isClosed && !isPaidBy(intent, paid)) yield* payments.abandon(intent)
        yield* payments.replaceIntent(intent, order)
      })

      /** Books a payment. `completes`: its turn completes the request, so it is stored with the Idempotency-Key. */
      const book = Effect.fnUntraced(function* (
        orderId: string,
        payment: Omit<Payment, "at">,
        { completes }: { readonly completes: boolean },
      ) {
        const booked = yield* captureTurn(orderId, payment, { completes, idsFree: true }).pipe(
          // The order was never paid and is purged. It is restored without items, so that the payment can be refunded.
          Effect.catchTag("NotFound", (notFound) =>
            Effect.flatMap(cleanup.restore(orderId), (isRestored) =>
              isRestored
                ? captureTurn(orderId, payment, { completes, idsFree: false })
                : Effect.fail(notFound),
            ),
          ),
          // Other orders claimed the ids or used up the code, or the account was deleted. The payment is booked, but
          // the order gets no ids. The payment can be refunded.
          Effect.catchTags({
            IdsTaken: () => captureTurn(orderId, payment, { completes, idsFree: false }),
            LimitReached: () => captureTurn(orderId, payment, { completes, idsFree: false }),
          }),
          Effect.catchTags({
            AlreadyApplied: () => Effect.succeed(unchanged(null)),
            UniqueConflict: ({ constraint }) =>
              constraint === "journal_reference" ? Effect.succeed(unchanged(null)) : Effect.die(constraint),
            NotFound: () => Effect.as(unknownOrder(orderId), unchanged(null)),
            IdsTaken: Effect.die,
            LimitReached: Effect.die,
          }),
        )
        yield* failPoints.pass("payment.after_commit")
        return booked
      })

      const receive = (orderId: string, payment: Omit<Payment, "at">, attempt?: number) =>
        Effect.flatMap(book(orderId, payment, { completes: false }), ({ outcome }) =>
          outcome === null ? Effect.void : replaceUnpaid(outcome, { attempt, ...payment }),
        )

      const declined = ({ attempt, intentId, orderId, provider, reason }: EventOf<"declined">) =>
        actors
          .turn(orderId, ({ snapshot }, now) => {
            // A card that was declined for a replaced intent says nothing about the current one.
            return isOfOther(snapshot.context.intent, { attempt, intentId, provider })
              ? Effect.fail(new AlreadyApplied())
              : Effect.succeed({ type: "payment.declined", reason, at: isoTime(now) } as const)
          })
          .pipe(
            Effect.catchTags({
              AlreadyApplied: () => Effect.void,
              // The order is not pending payment, so a declined payment changes nothing.
              EventRefused: () => Effect.void,
              NotFound: () => unknownOrder(orderId),
              IdsTaken: Effect.die,
              LimitReached: Effect.die,
              UniqueConflict: Effect.die,
            }),
          )

      /** Whether a refunded payment that is not in the ledger yet belongs to an order of this service. */
      const isAwaited = Effect.fnUntraced(function* ({ intentId, provider }: RefundEvent) {
        const orderId = yield* payments.find(provider)?.findOrder?.(intentId) ?? Effect.succeed(undefined)
        if (orderId === undefined || !isUuid(orderId)) return false
        return (yield* actors.find(orderId)) !== undefined || (yield* cleanup.isPurged(orderId))
      })

      const refunded = Effect.fnUntraced(function* (event: RefundEvent) {
        const orderId = event.orderId ?? (yield* ledger.findOrderOfPayment(event.paymentFact))
        if (orderId === undefined)
          return (yield* isAwaited(event))
            ? yield* new Unavailable({
                error: "This refund refers to a payment that has not been received yet.",
                retryAfterSeconds: 60,
              })
            : yield* unknownOrder(event.paymentFact)
        yield* refunds.applyEvent({ ...event, orderId, isFailed: event.kind === "refund_failed" })
      })

      const methodUsed = Effect.fnUntraced(function* ({ method, orderId, provider }: EventOf<"method_used">) {
        const order = yield* actors.find(orderId)
        if (order !== undefined) yield* methods.remember(order.snapshot.context.userId, provider, method)
      })

      return PaymentEvents.of({
        vouch: Effect.fnUntraced(function* (orderId, given) {
          const payment = { fact: `override:${randomUUID()}`, provider: "cash", ...given }
          const captured = yield* atMostOnce(book(orderId, payment, { completes: true }))
          if (captured !== null) yield* replaceUnpaid(captured, { attempt: undefined, ...payment })
        }),
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
