import { Context, Effect, Layer } from "effect"
import { OrderActors, type OrderSnapshot } from "../../actors/order.ts"
import type { OrderContext, OrderEvent, Refund } from "../../machines/order-context.ts"
import { refundableCents, totalCents } from "../../machines/order-money.ts"
import { type EventRefused, NotFound, type Unavailable, Unprocessable } from "../../schema/errors.ts"
import type { RefundRequest } from "../../schema/order.ts"
import type { StoredOrder } from "../store/orders.ts"
import { refusedInPublic, storedOf } from "./carts.ts"
import { Payments } from "./payments.ts"
import { uuidOf } from "./run-id.ts"

type Asked = Omit<Refund, "status" | "ofSale" | "at">
type Failure = Unprocessable | EventRefused | NotFound | Unavailable

const outcomes = { made: "refund.made", pending: "refund.taken_on", refused: "refund.failed" } as const

const refuse = (field: string, code: string, message: string) =>
  new Unprocessable({ error: message, fields: { [field]: [{ code, message }] } })

/** What came in through each intent and has not gone back. */
const refundableByIntent = (order: OrderContext) => {
  const left = new Map<string, { provider: string; intentId: string; cents: number }>()
  const book = (provider: string, intentId: string | undefined, cents: number) => {
    if (intentId === undefined) return
    const known = left.get(intentId) ?? { provider, intentId, cents: 0 }
    left.set(intentId, { ...known, cents: known.cents + cents })
  }
  for (const { cents, intentId, provider } of order.payments) book(provider, intentId, cents)
  for (const { cents, intentId, provider, status } of order.refunds)
    if (status !== "Failed") book(provider, intentId, -cents)
  return [...left.values()].filter(({ cents }) => cents > 0)
}

const withDiscounts = (order: OrderContext, ids: ReadonlySet<string>) =>
  order.items.filter(({ id, parentId }) => ids.has(id) || ids.has(parentId ?? ""))

/** How much is asked back, and for which items. */
const askedFor = (order: OrderContext, request: RefundRequest) =>
  Effect.gen(function* () {
    const left = refundableCents(order)
    if (left === 0) return yield* refuse("amount", "nothing_left", "There is nothing left to refund.")
    const given = new Set(
      order.refunds.flatMap(({ itemIds, status }) => (status === "Failed" ? [] : itemIds)),
    )
    const open = order.items.filter(
      ({ id, refunded, type }) => type !== "Discount" && refunded !== true && !given.has(id),
    )
    if (request.item_ids != null && request.item_ids.length > 0) {
      const ids = new Set(request.item_ids.map((id) => id.toLowerCase()))
      const items = withDiscounts(order, ids)
      if ([...ids].some((id) => !open.some((item) => item.id === id)))
        return yield* refuse("item_ids", "unknown", "An item is not in this order, or was refunded before.")
      const cents = request.amount ?? totalCents(items)
      if (cents > left)
        return yield* refuse("amount", "too_much", `At most ${left} cents are left to refund.`)
      return { cents, itemIds: items.map(({ id }) => id) }
    }
    const cents = request.amount ?? left
    if (cents > left) return yield* refuse("amount", "too_much", `At most ${left} cents are left to refund.`)
    // Everything back means every item back; a part is for no item in particular.
    const isAll = cents === left && order.paidAt !== undefined && request.amount == null
    return {
      cents,
      itemIds: isAll ? withDiscounts(order, new Set(open.map(({ id }) => id))).map(({ id }) => id) : [],
    }
  })

/** A refund goes back the way the money came; what came as cash cannot. */
const partsOf = (order: OrderContext, cents: number) =>
  Effect.gen(function* () {
    let left = cents
    const parts = refundableByIntent(order).flatMap(({ cents: available, intentId, provider }) => {
      const part = Math.min(left, available)
      left -= part
      return part > 0 ? [{ provider, intentId, cents: part }] : []
    })
    if (left > 0)
      return yield* refuse("amount", "needs_override", `${left} cents were not paid through a provider.`)
    return parts
  })

/** Money back to buyers. The order takes note before the provider is asked, so that a crash in between is taken up again. */
export class Refunds extends Context.Service<
  Refunds,
  {
    /** The same `run` twice is one refund. */
    run(orderId: string, request: RefundRequest, run: string): Effect.Effect<StoredOrder, Failure>
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
    /** The provider's word that a refund was made, asked for by us or not. */
    told(event: {
      readonly orderId: string
      readonly provider: string
      readonly intentId: string
      readonly refundId: string
      readonly cents: number
    }): Effect.Effect<void, Unavailable>
    /** The provider's word that a refund it had taken on came to nothing. */
    toldFailed(orderId: string, refundId: string): Effect.Effect<void, Unavailable>
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
      ) =>
        actors
          .turn(orderId, ({ snapshot }, now) => decide(snapshot, new Date(now).toISOString()))
          .pipe(Effect.map(({ snapshot }) => storedOf(snapshot)))

      /** An item is refunded once, in one part or in the parts that go `together`. */
      const begin = (orderId: string, refund: Asked, together: ReadonlySet<string> = new Set()) =>
        turn(orderId, ({ context }, at) =>
          context.refunds.some(
            ({ id, itemIds, status }) =>
              status !== "Failed" &&
              !together.has(id) &&
              itemIds.some((item) => refund.itemIds.includes(item)),
          )
            ? Effect.fail(refuse("item_ids", "unknown", "An item was refunded before."))
            : Effect.succeed({
                type: "refund",
                refund: { ...refund, status: "Pending", ofSale: context.paidAt !== undefined, at },
                at,
              } satisfies OrderEvent as OrderEvent),
        ).pipe(
          Effect.catchTags({
            EventRefused: (refused) => Effect.fail(refusedInPublic(refused)),
            IdsTaken: Effect.die,
            LimitReached: Effect.die,
            UniqueConflict: Effect.die,
          }),
        )

      /** Twice is once: the refund is settled or booked already then. */
      const settle = (
        orderId: string,
        refundId: string,
        type: "refund.taken_on" | "refund.made" | "refund.failed",
      ) =>
        turn(orderId, (_, at) =>
          Effect.succeed(
            (type === "refund.failed"
              ? { type, refundId, reason: "refused", at }
              : { type, refundId, at }) as OrderEvent,
          ),
        ).pipe(
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
        { cents, id, intentId, provider }: Asked,
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
        // A refund without a provider was only ever waiting for its second half.
        yield* Effect.forEach(pending, (refund) =>
          refund.provider === "cash" ? settle(orderId, refund.id, "refund.made") : ask(orderId, refund, true),
        )
      })

      return Refunds.of({
        run: Effect.fnUntraced(function* (orderId, request, run) {
          const { context } = yield* get(orderId)
          if (context.refunds.some(({ id }) => id === uuidOf(run, "0"))) {
            yield* resume(orderId)
            return yield* get(orderId)
          }
          const { cents, itemIds } = yield* askedFor(context, request)
          const together = new Set<string>()
          for (const [n, part] of (yield* partsOf(context, cents)).entries()) {
            const reason = request.reason == null ? {} : { reason: request.reason }
            const refund: Asked = { id: uuidOf(run, String(n)), itemIds, ...part, ...reason }
            together.add(refund.id)
            yield* begin(orderId, refund, together)
            // The order has taken note of it, so it is asked for again without the administrator.
            yield* ask(orderId, refund).pipe(Effect.catchTag("Unavailable", () => Effect.void))
          }
          return yield* get(orderId)
        }),
        record: Effect.fnUntraced(function* (orderId, { cents, externalReference, reason }, id) {
          const { context } = yield* get(orderId)
          const said = reason === undefined ? {} : { reason }
          if (!context.refunds.some((refund) => refund.id === id))
            yield* begin(orderId, { id, provider: "cash", cents, itemIds: [], externalReference, ...said })
          yield* settle(orderId, id, "refund.made")
          return yield* get(orderId)
        }),
        told: Effect.fnUntraced(function* ({ cents, intentId, orderId, provider, refundId }) {
          const found = yield* actors.find(orderId)
          if (found === undefined) return
          const isKnown = found.snapshot.context.refunds.some(({ id }) => id === refundId)
          // Made at the provider itself: taken note of first. A refusal means that another process was faster.
          if (!isKnown)
            yield* begin(orderId, { id: refundId, provider, intentId, cents, itemIds: [] }).pipe(
              Effect.catchTags({
                EventRefused: () => Effect.void,
                NotFound: () => Effect.void,
                Unprocessable: Effect.die,
              }),
            )
          yield* settle(orderId, refundId, "refund.made")
        }),
        toldFailed: (orderId, refundId) => settle(orderId, refundId, "refund.failed"),
        resume,
      })
    }),
  )
}
