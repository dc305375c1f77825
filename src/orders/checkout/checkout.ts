import { Context, Effect, Layer } from "effect"
import { dueCents } from "../../../machines/orders/money.ts"
import { type EventRefused, type Forbidden, NotFound } from "../../../schema/errors.ts"
import type { CheckoutCartRequest } from "../../../schema/orders/order.ts"
import { AppConfig } from "../../config/config.ts"
import { FailPoints } from "../../config/fail-points.ts"
import type { Principal } from "../../http/principal.ts"
import { DefaultPubkeys } from "../../keys/default-pubkey.ts"
import { findBooked } from "../booked.ts"
import { type Cart, type CartRefusal, Carts, type CartTurn } from "../cart/cart.ts"
import { ineligible, lostTo } from "../cart/items.ts"
import { unclaimed } from "../cart/turns.ts"
import { Orders, type StoredOrder } from "../order-store.ts"
import { Payments } from "../payments/payments.ts"
import { notFree } from "../refusals.ts"
import {
  checkEmail,
  checkKey,
  checkRequest,
  isRepeated,
  type RequestedCheckout,
  tooLittle,
} from "./check-request.ts"
import { type CheckoutInput, cashBooked, decideCheckout } from "./decide.ts"
import { ItemPrices } from "./price-items.ts"

/**
 * From a cart to its payment: all ids are claimed with the transition or none is, then the provider is asked, unless it is
 * one that can be committed with the claims.
 */
export class Checkouts extends Context.Service<
  Checkouts,
  {
    run(
      principal: Principal,
      orderId: string | undefined,
      request: CheckoutCartRequest,
      options?: {
        /** The partner on whose page it happens. */
        readonly organizationId?: string
        /** Identifies a cash payment that has no reference. */
        readonly operationKey?: string | undefined
      },
    ): Effect.Effect<CartTurn, CartRefusal | EventRefused | Forbidden>
  }
>()("directory/Checkouts") {
  static readonly layer = Layer.effect(
    Checkouts,
    Effect.gen(function* () {
      const { cartTtlSeconds } = yield* AppConfig
      const carts = yield* Carts
      const orders = yield* Orders
      const payments = yield* Payments
      const itemPrices = yield* ItemPrices
      const keys = yield* DefaultPubkeys
      const failPoints = yield* FailPoints

      /** Whose order it is, for those who may check it out. */
      const buyerOf = Effect.fnUntracedEager(function* (principal: Principal, orderId: string | undefined) {
        if (orderId === undefined) return principal.userId
        const order = yield* orders.find(orderId)
        // A cart is shown with its id before anything of it is stored.
        if (order === undefined && (yield* carts.get(principal.userId)).order.context.id === orderId)
          return principal.userId
        const isAllowed =
          order?.context.userId === principal.userId || principal.scopes.has("adminCart:update")
        if (order === undefined || !isAllowed)
          return yield* new NotFound({ error: "There is no such order." })
        return order.context.userId
      })

      /** Loads the prices, decides, and adds the intent where the provider can compute it without a request. */
      const decide = Effect.fnUntracedEager(function* (facts: Omit<CheckoutInput, "items">) {
        const { at, order, request } = facts
        const { context, status } = order
        // A pending order keeps the prices of its checkout.
        const items = status === "Draft" ? yield* itemPrices.again(context.items, at) : context.items
        yield* failPoints.pass("checkout.before_commit")
        const event = yield* decideCheckout({ ...facts, items })
        if (event.type !== "checkout.payment") return { event }
        const refused =
          status === "Draft" ? payments.tooLittle(request.method, dueCents({ ...context, items })) : undefined
        if (refused !== undefined) return yield* tooLittle(refused)
        const foreseen = yield* payments.foresee(context, items, event.checkout)
        return foreseen === undefined
          ? { event }
          : { event: { ...event, intent: foreseen.intent }, effects: foreseen.effects }
      })

      const loserAnswer = Effect.fnUntraced(function* (userId: string, taken: ReadonlyArray<string>) {
        const { order, seen } = yield* carts.get(userId, taken)
        return yield* lostTo(order.context.items, taken, seen)
      })

      /** A box may have been filled anew between the look at it and the hold on it, which keeps it as it is. */
      const checkBoxes = Effect.fnUntracedEager(function* (buyer: string, { context, status }: StoredOrder) {
        if (status !== "PendingPayment" || !(yield* itemPrices.hasOtherBoxes(context.items))) return
        const takeBack = (_: StoredOrder, at: string) =>
          Effect.succeed({ event: { type: "convert_to_draft", at } } as const)
        yield* unclaimed(carts.turn(buyer, takeBack, { only: context.id }))
        yield* payments.abandon(context.intent)
        return yield* ineligible(["The lootbox was changed just now."])
      })

      /** Asked again for the same: the answer is the same, with the intent an earlier crash may have left out. */
      const repeated = Effect.fnUntracedEager(function* ({ order, user }: Cart, asked: RequestedCheckout) {
        const { intent } = order.context
        if (!isRepeated(order, asked) || (intent !== undefined && !payments.isPayable(intent)))
          return undefined
        return { user, order: yield* payments.ensureIntent(order), before: order }
      })

      /** The order that an earlier request with the same reference paid in cash. */
      const paidBefore = Effect.fnUntraced(function* (
        { user }: Cart,
        orderId: string | undefined,
        { amount, external_reference: reference }: CheckoutCartRequest,
      ) {
        const order = orderId === undefined || reference == null ? undefined : yield* orders.find(orderId)
        const booked = order && findBooked(order.context.payments, reference, undefined, 0)
        if (order === undefined || booked === undefined || (amount ?? booked.cents) !== booked.cents)
          return undefined
        return { user, order, before: order }
      })

      return Checkouts.of({
        run: Effect.fnUntraced(function* (principal, orderId, request, options = {}) {
          const { method } = request
          yield* payments.checkMethod(method)
          yield* checkRequest(principal, request)
          const buyer = yield* buyerOf(principal, orderId)
          const cart = yield* carts.recall(buyer)
          yield* checkEmail(cart.user)
          const wanted = yield* checkKey(cart.user, request.pubkey)
          const asked: RequestedCheckout = { method, orderId, wanted }
          const known = yield* repeated(cart, asked)
          if (known !== undefined) return known
          const defaultKey = cart.user.pubkeys[0] ?? (yield* keys.of(buyer))
          const fixed = {
            request,
            requestedKey: wanted,
            defaultKey,
            organizationId: options.organizationId,
            operationKey: options.operationKey,
            ttlSeconds: cartTtlSeconds,
          }
          const take = (only: string | undefined, found: Cart | undefined) => {
            const turn = carts.turn(buyer, (order, at, user) => decide({ order, at, user, ...fixed }), {
              only,
              found,
            })
            return Effect.catchTags(turn, {
              IdsTaken: ({ canonicals }) => loserAnswer(buyer, canonicals),
              LimitReached: () => Effect.fail(notFree(0)),
              Unprocessable: (refused) =>
                refused === cashBooked
                  ? Effect.map(carts.get(buyer), ({ order, user }) => ({ user, order, before: order }))
                  : Effect.fail(refused),
              // The same request can have been committed first: by another request, or by an earlier one.
              EventRefused: (refused) =>
                (method === "Cash"
                  ? paidBefore(cart, orderId, request)
                  : Effect.flatMap(carts.get(buyer), (now) => repeated(now, asked))
                ).pipe(
                  Effect.flatMap((same) =>
                    same === undefined ? Effect.fail(refused) : Effect.succeed(same),
                  ),
                ),
            })
          }
          let taken: CartTurn = yield* take(orderId, cart)
          yield* failPoints.pass("checkout.after_commit")
          if (taken.before.status === "Draft") yield* checkBoxes(buyer, taken.order)
          if (taken.event?.type === "checkout.hold") taken = yield* take(taken.order.context.id, undefined)
          const isPaid = taken.order.status === "Paid"
          // Paid, or in part: what the provider was asked for is not what is due.
          if (isPaid || taken.order.context.intent === undefined)
            yield* payments.abandon(taken.before.context.intent)
          const order = yield* payments.ensureIntent(taken.order)
          yield* failPoints.pass("checkout.before_answer")
          return { ...taken, order }
        }),
      })
    }),
  )
}
