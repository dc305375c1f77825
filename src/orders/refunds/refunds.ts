import { Context, Effect, Layer } from "effect"
import { OrderActors, type OrderSnapshot } from "../../../actors/order.ts"
import type { Intent, OrderContext, OrderEvent, Refund } from "../../../machines/orders/context.ts"
import { refundParts } from "../../../machines/orders/money.ts"
import {
  type EventRefused,
  fieldFault,
  NotFound,
  type Unavailable,
  type Unprocessable,
} from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import type { RefundRequest } from "../../../schema/orders/order.ts"
import { currentRun, isForgotten, type Run } from "../../turns/operation-key.ts"
import { refusedInPublic, storedOf } from "../cart/cart.ts"
import type { StoredOrder } from "../order-store.ts"
import { Payments } from "../payments/payments.ts"
import { planRefund, type RequestedRefund, refundIdOf } from "./plans.ts"

type Failure = Unprocessable | EventRefused | NotFound | Unavailable

const outcomes = { made: "refund.made", pending: "refund.taken_on", refused: "refund.failed" } as const

type Settled = "refund.taken_on" | "refund.made" | "refund.failed" | "refund.returned"

/** Only the provider's own word undoes what it called made before. */
const undone = (refund: Refund | undefined): Settled =>
  refund?.status === "Refunded" ? "refund.returned" : "refund.failed"

/** Nothing is sent to another provider: it knows nothing of the payment. */
const unreachable = (provider: string) =>
  fieldFault(
    "provider",
    "method_unavailable",
    provider === "sandbox"
      ? "The order was paid with test payments, which are off on this server. Record the refund with refund_override."
      : `The order was paid through ${provider}, which is not configured on this server. Refund it there and record it with refund_override.`,
  )

/** The order knows this refund already. */
class AlreadyBooked {
  readonly _tag = "AlreadyBooked"
}

/** By its id, or booked by an administrator who gave the provider's id of it. */
const findRefund = ({ refunds }: OrderContext, refundId: string): Refund | undefined =>
  refunds.find(({ id }) => id === refundId) ??
  refunds.find(({ externalReference }) => externalReference === refundId)

/** What is on its way stays the same refund, however long it takes; what failed stands in nobody's way. */
const isOver = (order: OrderContext, refund: Refund, isLongAgo: boolean): boolean => {
  const parts = refundParts(order, refund)
  return (
    parts.every(({ status }) => status === "Failed") ||
    (isLongAgo && parts.every(({ status }) => status !== "Pending"))
  )
}

/** Money back to buyers. The order takes note before the provider is asked, so that a crash in between is taken up again. */
export class Refunds extends Context.Service<
  Refunds,
  {
    /** The same `run` twice is one refund, unless it came to nothing. */
    run(orderId: string, request: RefundRequest, run: Run): Effect.Effect<StoredOrder, Failure>
    /** A refund made elsewhere, for the books. */
    record(
      orderId: string,
      refund: {
        readonly cents: number
        readonly externalReference: string
        readonly reason: string | undefined
      },
      run: string,
    ): Effect.Effect<StoredOrder, Failure>
    /** The provider's word that a refund was made or came to nothing, asked for by us or not. */
    applyEvent(event: {
      readonly orderId: string
      readonly provider: string
      readonly intentId: string
      readonly refundId: string
      readonly cents: number
      readonly isFailed: boolean
    }): Effect.Effect<void, Unavailable>
    /** Asks again for refunds whose answer was lost. */
    resume(orderId: string): Effect.Effect<void, Unavailable>
  }
>()("directory/Refunds") {
  static readonly layer = Layer.effect(
    Refunds,
    Effect.gen(function* () {
      const actors = yield* OrderActors
      const payments = yield* Payments

      const turn = <E>(
        orderId: string,
        decide: (snapshot: OrderSnapshot, at: string) => Effect.Effect<OrderEvent, E>,
      ) => {
        let offered: Intent | undefined
        return actors
          .turn(orderId, ({ snapshot }, now) => {
            offered = snapshot.context.intent
            return decide(snapshot, isoTime(now))
          })
          .pipe(Effect.tap(({ snapshot }) => payments.offerAnew(offered, storedOf(snapshot))))
      }

      /** Decided on the order as it is then, so that nobody gives back what somebody else is giving back. */
      const begin = (
        orderId: string,
        plan: (
          order: OrderContext,
        ) => Effect.Effect<ReadonlyArray<RequestedRefund>, Unprocessable | AlreadyBooked>,
      ) => {
        let order: StoredOrder | undefined
        return turn(orderId, (snapshot, at) => {
          order = storedOf(snapshot)
          const { context } = order
          return Effect.map(plan(context), (asked): OrderEvent => {
            const facts = { status: "Pending", ofSale: context.paidAt !== undefined, at } as const
            return { type: "refund", refunds: asked.map((refund) => ({ ...refund, ...facts })), at }
          })
        }).pipe(
          Effect.asVoid,
          Effect.catchTags({
            AlreadyBooked: () => Effect.void,
            EventRefused: (refused) => Effect.fail(order === undefined ? refused : refusedInPublic(order)),
            IdsTaken: Effect.die,
            LimitReached: Effect.die,
            UniqueConflict: Effect.die,
          }),
        )
      }

      /** Twice is once: the refund is settled or booked already then. */
      const settle = (
        orderId: string,
        refundId: string,
        settled: Settled | ((refund: Refund | undefined) => Settled),
      ) =>
        turn(orderId, ({ context }, at) => {
          const refund = findRefund(context, refundId)
          const type = typeof settled === "string" ? settled : settled(refund)
          const facts = { refundId: refund?.id ?? refundId, at }
          return Effect.succeed(
            (type === "refund.failed"
              ? { type, ...facts, reason: "refused" }
              : { type, ...facts }) satisfies OrderEvent as OrderEvent,
          )
        }).pipe(
          Effect.asVoid,
          Effect.catchTags({
            EventRefused: () => Effect.void,
            NotFound: () => Effect.void,
            UniqueConflict: () => Effect.void,
            IdsTaken: Effect.die,
            LimitReached: Effect.die,
          }),
        )

      const ask = Effect.fnUntraced(function* (
        orderId: string,
        { cents, id, intentId, provider }: RequestedRefund,
        isRepeated = false,
      ) {
        const port = payments.find(provider)
        if (port === undefined || intentId === undefined) {
          // A provider that is not set up today may have been asked all the same when it was.
          return isRepeated ? undefined : yield* settle(orderId, id, "refund.failed")
        }
        const answer = yield* port.refund({ refundId: id, orderId, intentId, cents, isRepeated })
        yield* settle(orderId, id, outcomes[answer])
      })

      const get = Effect.fnUntraced(function* (orderId: string) {
        const found = yield* actors.find(orderId)
        if (found === undefined) return yield* new NotFound({ error: "There is no such order." })
        return storedOf(found.snapshot)
      })

      const resume = Effect.fnUntraced(function* (orderId: string) {
        const found = yield* actors.find(orderId)
        const pending = found?.snapshot.context.refunds.filter(({ status }) => status === "Pending") ?? []
        // Each for itself: one provider that is away keeps no money back that came through another. A refund without a
        // provider was only ever waiting for its second half.
        const asked = yield* Effect.forEach(pending, (refund) =>
          Effect.exit(
            refund.provider === "cash"
              ? settle(orderId, refund.id, "refund.made")
              : ask(orderId, refund, true),
          ),
        )
        for (const outcome of asked) yield* outcome
      })

      /** What a request comes to on the order as it is, or that the order has taken note of it before. */
      const planOnce = Effect.fnUntraced(function* (
        order: OrderContext,
        request: RefundRequest,
        { name, seconds }: Run,
      ) {
        const find = (run: string) => order.refunds.find(({ id }) => id === refundIdOf(run, 0))
        const run = currentRun(name, find, (made) =>
          isOver(order, made, isForgotten(made.at, actors.now(), seconds)),
        )
        if (find(run) !== undefined) return yield* Effect.fail(new AlreadyBooked())
        const planned = yield* planRefund(order, request, run)
        const closed = planned.find(({ provider }) => payments.find(provider) === undefined)
        return closed === undefined ? planned : yield* unreachable(closed.provider)
      })

      return Refunds.of({
        run: Effect.fnUntraced(function* (orderId, request, run) {
          let parts: ReadonlyArray<RequestedRefund> = []
          yield* begin(orderId, (order) => {
            // On second thoughts, when another process was faster, there may be nothing to ask for.
            parts = []
            return Effect.map(planOnce(order, request, run), (planned) => {
              parts = planned
              return planned
            })
          })
          const asked = parts.length === 0 ? [resume(orderId)] : parts.map((part) => ask(orderId, part))
          // The order has taken note of them, so they are asked for again without the administrator.
          yield* Effect.forEach(asked, (one) => Effect.catchTag(one, "Unavailable", () => Effect.void))
          return yield* get(orderId)
        }),
        record: Effect.fnUntraced(function* (orderId, { cents, externalReference, reason }, key) {
          const { context } = yield* get(orderId)
          const id = currentRun(
            key,
            (one) => context.refunds.find((refund) => refund.id === one),
            ({ at }) => isForgotten(at, actors.now()),
          )
          const said = reason === undefined ? {} : { reason }
          const isBooked = (refund: Refund) =>
            refund.id === id || (refund.id === externalReference && refund.status !== "Failed")
          yield* begin(orderId, ({ refunds }) =>
            // By this very request, or told by the provider before.
            refunds.some(isBooked)
              ? Effect.fail(new AlreadyBooked())
              : Effect.succeed([{ id, provider: "cash", cents, itemIds: [], externalReference, ...said }]),
          )
          yield* settle(orderId, id, "refund.made")
          return yield* get(orderId)
        }),
        applyEvent: Effect.fnUntraced(function* ({ cents, intentId, isFailed, orderId, provider, refundId }) {
          // Made at the provider itself: taken note of first. A refusal means that it is more than the order has.
          yield* begin(orderId, (order) =>
            findRefund(order, refundId) === undefined
              ? Effect.succeed([{ id: refundId, provider, intentId, cents, itemIds: [] }])
              : Effect.fail(new AlreadyBooked()),
          ).pipe(
            Effect.catchTags({
              EventRefused: () => Effect.void,
              NotFound: () => Effect.void,
              Unprocessable: Effect.die,
            }),
          )
          yield* settle(orderId, refundId, isFailed ? undone : "refund.made")
        }),
        resume,
      })
    }),
  )
}
