import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { atMostOnce, CurrentOperation, unchanged, Written } from "../../../actors/operation.ts"
import { OrderActors, type OrderSnapshot } from "../../../actors/order.ts"
import type { Intent, OrderContext, OrderEvent, Refund } from "../../../machines/orders/context.ts"
import {
  type EventRefused,
  fieldFault,
  NotFound,
  Unavailable,
  type Unprocessable,
} from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import type { RefundRequest } from "../../../schema/orders/order.ts"
import { findBooked, otherAmount } from "../booked.ts"
import { storedOf } from "../cart/cart.ts"
import { findFormerlyBooked } from "../former-operation-key.ts"
import type { StoredOrder } from "../order-store.ts"
import { Payments } from "../payments/payments.ts"
import { refusedByState } from "../refusals.ts"
import { planRefund, type RequestedRefund } from "./plans.ts"
import { makeDecideReleases } from "./releases.ts"

type Failure = Unprocessable | EventRefused | NotFound | Unavailable

const outcomes = { made: "refund.made", pending: "refund.taken_on", refused: "refund.failed" } as const

type Settled = "refund.taken_on" | "refund.made" | "refund.failed" | "refund.returned"

/** The event for a failed refund. If the provider has already reported the refund as made, the event reverts it. */
const undone = (refund: Refund | undefined): Settled =>
  refund?.status === "Refunded" ? "refund.returned" : "refund.failed"

/** The 422 error for a refund whose payment was made through a provider that is now disabled. */
const unreachable = (provider: string) =>
  fieldFault(
    "provider",
    "method_unavailable",
    provider === "sandbox"
      ? "The order was paid with test payments, which are disabled on this server. Book the refund with refund_override."
      : `The order was paid through ${provider}, which is not configured on this server. Make the refund at the provider, then book it with refund_override.`,
  )

const maxDecisions = 5
const isOutdatedDecision = ({ _tag }: { readonly _tag: string }): boolean =>
  _tag === "IdsTaken" || _tag === "LimitReached"
const changing = new Unavailable({
  error: "The ids of this order are being changed. Retry the request.",
  retryAfterSeconds: 1,
})

/** The recorded refunds, as a JSON value: the outcome of a request with an Idempotency-Key. */
interface Begun {
  readonly parts: ReadonlyArray<RequestedRefund>
  readonly order: StoredOrder
  /** The intent of the order before the refunds were recorded. */
  readonly intent: Intent | undefined
}

/** Signals that the order already contains this refund, so no refund is recorded. */
class AlreadyBooked {
  readonly _tag = "AlreadyBooked"
  readonly begun: Begun
  constructor(order: StoredOrder, ...parts: ReadonlyArray<RequestedRefund>) {
    this.begun = { parts, order, intent: order.context.intent }
  }
}

/** Finds a refund by its id, or by the provider's id if an administrator booked that id as the reference. */
const findRefund = ({ refunds }: OrderContext, refundId: string): Refund | undefined =>
  refunds.find(({ id }) => id === refundId) ??
  refunds.find(({ externalReference }) => externalReference === refundId)

/** Makes refunds. The order records a refund before the provider is called, so a crash does not lose it. */
export class Refunds extends Context.Service<
  Refunds,
  {
    /**
     * Refunds an order through its payment providers. Each call is a new refund, except if release 0.2.0 has made it for
     * a request with this key.
     */
    run(
      orderId: string,
      request: RefundRequest,
      formerKey: string | undefined,
    ): Effect.Effect<StoredOrder, Failure>
    /**
     * Books a refund that was made elsewhere. If the order already has this reference, the call books nothing, and
     * fails if the amounts differ.
     */
    record(
      orderId: string,
      refund: {
        readonly cents: number
        readonly externalReference: string
        readonly reason: string | undefined
      },
    ): Effect.Effect<StoredOrder, Failure>
    /**
     * Applies a provider's report that a refund was made or failed. The refund may have been requested directly at
     * the provider.
     */
    applyEvent(event: {
      readonly orderId: string
      readonly provider: string
      readonly intentId: string
      readonly refundId: string
      readonly cents: number
      readonly isFailed: boolean
    }): Effect.Effect<void, Unavailable>
    /** Requests all pending refunds of an order from their providers again. */
    resume(orderId: string): Effect.Effect<void, Unavailable>
  }
>()("directory/Refunds") {
  static readonly layer = Layer.effect(
    Refunds,
    Effect.gen(function* () {
      const actors = yield* OrderActors
      const payments = yield* Payments
      const decideReleases = yield* makeDecideReleases

      const turn = <E>(
        orderId: string,
        decide: (snapshot: OrderSnapshot, at: string) => Effect.Effect<OrderEvent, E>,
      ) => {
        let intent: Intent | undefined
        return actors
          .turn(orderId, ({ snapshot }, now) => {
            intent = snapshot.context.intent
            return decide(snapshot, isoTime(now))
          })
          .pipe(Effect.tap(({ snapshot }) => payments.replaceIntent(intent, storedOf(snapshot))))
      }

      /**
       * Records the planned refunds as pending. `plan` gets the order that the turn is committed on, so concurrent
       * refunds together cannot exceed the payments. `completes`: the turn completes the request, so it is stored with
       * the Idempotency-Key.
       */
      const begin = (
        orderId: string,
        plan: (
          order: StoredOrder,
        ) => Effect.Effect<ReadonlyArray<RequestedRefund>, Unprocessable | EventRefused | AlreadyBooked>,
        { completes }: { readonly completes: boolean },
      ) => {
        let planned: StoredOrder | undefined
        let parts: ReadonlyArray<RequestedRefund> = []
        let intent: Intent | undefined
        const outcomeOf = (snapshot: OrderSnapshot): Begun => ({ parts, intent, order: storedOf(snapshot) })
        return actors
          .turn(
            orderId,
            ({ snapshot }, now) => {
              const order = storedOf(snapshot)
              const at = isoTime(now)
              planned = undefined
              return Effect.map(plan(order), (requested): OrderEvent => {
                planned = order
                parts = requested
                intent = order.context.intent
                const facts = { status: "Pending", ofSale: order.context.paidAt !== undefined, at } as const
                return { type: "refund", refunds: requested.map((refund) => ({ ...refund, ...facts })), at }
              })
            },
            { outcome: (next) => (completes ? outcomeOf(next) : undefined) },
          )
          .pipe(
            Effect.map(({ snapshot, written }) => new Written(written.outcome ?? outcomeOf(snapshot))),
            Effect.catchTags({
              AlreadyBooked: ({ begun }) => Effect.succeed(unchanged(begun)),
              EventRefused: (refused) =>
                Effect.fail(planned === undefined ? refused : refusedByState(planned)),
              IdsTaken: Effect.die,
              LimitReached: Effect.die,
              UniqueConflict: Effect.die,
            }),
          )
      }

      /** If the recorded refunds changed the amount due, replaces the intent. It can run again after a crash. */
      const replaceIntent = ({ intent, order }: Begun) => payments.replaceIntent(intent, order)

      /**
       * Records the outcome of a refund. Ignores an outcome that the state of the refund refuses, for example a
       * repeated report.
       */
      const settle = (
        orderId: string,
        refundId: string,
        settled: Settled | ((refund: Refund | undefined) => Settled),
      ) =>
        turn(orderId, ({ context }, at) => {
          const refund = findRefund(context, refundId)
          const type = typeof settled === "string" ? settled : settled(refund)
          const facts = { refundId: refund?.id ?? refundId, at }
          if (type === "refund.made") {
            const made = { type, ...facts }
            return Effect.map(
              decideReleases(context, made),
              (releases): OrderEvent => (releases.length === 0 ? made : { ...made, releases }),
            )
          }
          return Effect.succeed<OrderEvent>(
            type === "refund.failed" ? { type, ...facts, reason: "refused" } : { type, ...facts },
          )
        }).pipe(
          // The commit found that an id was transferred or minted, or a lootbox opened, after the decision about its
          // release. So the decision is made again.
          Effect.retry({ times: maxDecisions, while: isOutdatedDecision }),
          Effect.asVoid,
          Effect.catchTags({
            EventRefused: () => Effect.void,
            NotFound: () => Effect.void,
            UniqueConflict: () => Effect.void,
            // The refund stays pending. The sweep completes it later.
            IdsTaken: () => Effect.fail(changing),
            LimitReached: () => Effect.fail(changing),
          }),
        )

      const ask = Effect.fnUntraced(function* (
        orderId: string,
        { cents, id, intentId, provider }: RequestedRefund,
        isRepeated = false,
      ) {
        const port = payments.find(provider)
        if (port === undefined || intentId === undefined) {
          // A provider that is now disabled possibly received an earlier request, so a repeated refund stays pending.
          return isRepeated ? undefined : yield* settle(orderId, id, "refund.failed")
        }
        const answer = yield* port.refund({ refundId: id, orderId, intentId, cents, isRepeated })
        yield* settle(orderId, id, outcomes[answer])
      })

      const get = Effect.fnUntraced(function* (orderId: string) {
        const found = yield* actors.find(orderId)
        if (found === undefined) return yield* new NotFound({ error: "Order not found." })
        return storedOf(found.snapshot)
      })

      const resume = Effect.fnUntraced(function* (orderId: string) {
        const found = yield* actors.find(orderId)
        const pending = found?.snapshot.context.refunds.filter(({ status }) => status === "Pending") ?? []
        // Each refund is requested separately, so one unavailable provider does not block the refunds of other
        // providers. A cash refund is pending only if the process crashed between the turn that records it and the
        // turn that settles it.
        const outcomesOfAll = yield* Effect.forEach(pending, (refund) =>
          Effect.exit(
            refund.provider === "cash"
              ? settle(orderId, refund.id, "refund.made")
              : ask(orderId, refund, true),
          ),
        )
        for (const outcome of outcomesOfAll) yield* outcome
      })

      const plan = Effect.fnUntraced(function* (
        order: StoredOrder,
        request: RefundRequest,
        formerKey: string | undefined,
      ) {
        const { context } = order
        if (findFormerlyBooked(context.refunds, formerKey, actors.now()) !== undefined)
          return yield* Effect.fail(new AlreadyBooked(order))
        const planned = yield* planRefund(context, request)
        const closed = planned.find(({ provider }) => payments.find(provider) === undefined)
        return closed === undefined ? planned : yield* unreachable(closed.provider)
      })

      return Refunds.of({
        run: Effect.fnUntraced(function* (orderId, request, formerKey) {
          const begun = yield* atMostOnce(
            begin(orderId, (order) => plan(order, request, formerKey), { completes: true }),
          )
          yield* replaceIntent(begun)
          // If an earlier attempt of this request recorded the refunds, it possibly requested them too.
          const isRepeated = (yield* CurrentOperation)?.committed !== undefined || begun.parts.length === 0
          const requests = isRepeated ? [resume(orderId)] : begun.parts.map((part) => ask(orderId, part))
          // The refunds are already recorded. If the provider is unavailable, the sweep requests them again later.
          yield* Effect.forEach(requests, (one) => Effect.catchTag(one, "Unavailable", () => Effect.void))
          return yield* get(orderId)
        }),
        record: Effect.fnUntraced(function* (orderId, { cents, externalReference, reason }) {
          const refund = {
            id: randomUUID(),
            provider: "cash",
            cents,
            itemIds: [],
            externalReference,
            ...(reason === undefined ? {} : { reason }),
          }
          const recorded = begin(
            orderId,
            (order) => {
              const { refunds } = order.context
              const booked =
                findBooked(refunds, externalReference) ??
                refunds.find((one) => one.id === externalReference && one.status !== "Failed")
              if (booked === undefined) return Effect.succeed([refund])
              return booked.cents === cents
                ? Effect.fail(new AlreadyBooked(order, booked))
                : Effect.fail(otherAmount(order, externalReference, booked.cents))
            },
            { completes: true },
          )
          const begun = yield* atMostOnce(recorded)
          yield* replaceIntent(begun)
          // A refund that was made through a provider is settled by the report of the provider.
          const [part] = begun.parts
          if (part?.provider === "cash") yield* settle(orderId, part.id, "refund.made")
          return yield* get(orderId)
        }),
        applyEvent: Effect.fnUntraced(function* ({ cents, intentId, isFailed, orderId, provider, refundId }) {
          // A refund that was requested directly at the provider is not in the order yet. It is added as pending before
          // its outcome is recorded. The order refuses it if it exceeds the amount that can still be refunded.
          yield* begin(
            orderId,
            (order) => {
              const found = findRefund(order.context, refundId)
              return found === undefined
                ? Effect.succeed([{ id: refundId, provider, intentId, cents, itemIds: [] }])
                : Effect.fail(new AlreadyBooked(order, found))
            },
            { completes: false },
          ).pipe(
            Effect.flatMap(({ outcome }) => replaceIntent(outcome)),
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
