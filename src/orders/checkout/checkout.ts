import { Context, Effect, Layer } from "effect"
import { atMostOnce, CurrentOperation, unchanged } from "../../../actors/operation.ts"
import { dueCents } from "../../../machines/orders/money.ts"
import { type EventRefused, type Forbidden, NotFound } from "../../../schema/errors.ts"
import type { CheckoutCartRequest } from "../../../schema/orders/order.ts"
import type { OrganizationFees } from "../../../schema/organizations/organization.ts"
import { FailPoints } from "../../config/fail-points.ts"
import { AppConfig } from "../../config/read-config.ts"
import type { Principal } from "../../http/principal.ts"
import { DefaultPubkeys } from "../../keys/default-pubkey.ts"
import { findBooked, otherAmount } from "../booked.ts"
import { type Cart, type CartRefusal, Carts, type CartTurn, repeatedTurn } from "../cart/cart.ts"
import { ineligible, itemsUnavailable } from "../cart/items.ts"
import { unclaimed } from "../cart/turns.ts"
import { formerOperationKey } from "../former-operation-key.ts"
import { Orders, type StoredOrder } from "../order-store.ts"
import { Payments } from "../payments/payments.ts"
import { ReplacedIntents } from "../payments/replaced-intents.ts"
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

interface CheckoutSource {
  /** The organization (partner) on whose page the checkout was started. */
  readonly organizationId?: string
  /** The fees of this organization. */
  readonly fees?: OrganizationFees
}

const boxesChanged = ineligible([
  "The contents of the lootbox changed during the checkout. Review the cart and check out again.",
])

/**
 * Checks out a cart. One turn claims all ids or none of them. Some providers compute the payment intent in advance,
 * and the same turn stores it. For other providers the intent is created after the turn. A checkout of a pending order
 * with another payment method replaces its intent.
 */
export class Checkouts extends Context.Service<
  Checkouts,
  {
    run(
      principal: Principal,
      orderId: string | undefined,
      request: CheckoutCartRequest,
      source?: CheckoutSource,
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
      const replacedIntents = yield* ReplacedIntents

      /**
       * Returns the id of the order's buyer. Fails with 404 if the order does not exist or the caller is not allowed to
       * check it out.
       */
      const buyerOf = Effect.fnUntracedEager(function* (principal: Principal, orderId: string | undefined) {
        if (orderId === undefined) return principal.userId
        const order = yield* orders.find(orderId)
        // GET /cart shows the id of a cart that is not stored yet. The caller can use this id for a checkout.
        if (order === undefined && (yield* carts.get(principal.userId)).order.context.id === orderId)
          return principal.userId
        const isAllowed =
          order?.context.userId === principal.userId || principal.scopes.has("adminCart:update")
        if (order === undefined || !isAllowed) return yield* new NotFound({ error: "Order not found." })
        return order.context.userId
      })

      /**
       * Prices the items and decides the event of the checkout. If the intent can be computed without a call to the
       * payment provider, the intent is added to the event.
       */
      const decide = Effect.fnUntracedEager(function* (facts: Omit<CheckoutInput, "items">) {
        const { at, order, request } = facts
        const { context, status } = order
        // A pending order keeps the prices of its first checkout.
        const items = status === "Draft" ? yield* itemPrices.again(context.items, at) : context.items
        yield* failPoints.pass("checkout.before_commit")
        const event = yield* decideCheckout({ ...facts, items })
        if (event.type !== "checkout.payment") return { event }
        const isNew = status === "Draft" || context.checkout?.method !== request.method
        const refused = isNew
          ? payments.tooLittle(request.method, dueCents({ ...context, items }))
          : undefined
        if (refused !== undefined) return yield* tooLittle(refused)
        const foreseen = yield* payments.foresee(context, items, event.checkout)
        return foreseen === undefined
          ? { event }
          : { event: { ...event, intent: foreseen.intent }, effects: foreseen.effects }
      })

      const unavailableItems = Effect.fnUntraced(function* (userId: string, claims: ReadonlyArray<string>) {
        const { order, seen } = yield* carts.get(userId, claims)
        return yield* itemsUnavailable(order.context.items, claims, seen)
      })

      /**
       * Returns the order to Draft and fails if the contents of a lootbox changed before the checkout held it. One
       * check is enough, because a lootbox cannot change while an order holds it. After a crash it can run again, so it
       * does not touch an order that is a draft again or has another checkout.
       */
      const checkBoxes = Effect.fnUntracedEager(function* ({ before, order: { context, status } }: CartTurn) {
        if (before.status !== "Draft" || status !== "PendingPayment") return
        if (!(yield* itemPrices.hasChangedBoxes(context.items))) return
        const undo = (now: StoredOrder, at: string) =>
          now.status === "Draft" || now.context.attempt !== context.attempt
            ? Effect.fail(boxesChanged)
            : Effect.succeed({ event: { type: "convert_to_draft", at } } as const)
        yield* unclaimed(carts.turn(context.userId, undo, { only: context.id })).pipe(
          Effect.catchIf(
            (refused) => refused === boxesChanged,
            () => Effect.void,
          ),
        )
        yield* payments.abandon(context.intent)
        return yield* boxesChanged
      })

      /**
       * Returns the pending order if the request repeats its checkout, otherwise undefined. Also returns undefined if
       * the provider of its intent is no longer enabled.
       */
      const repeated = ({ order, user }: Cart, requested: RequestedCheckout): CartTurn | undefined => {
        const { intent } = order.context
        return isRepeated(order, requested) && (intent === undefined || payments.isPayable(intent))
          ? repeatedTurn(user, order)
          : undefined
      }

      /**
       * Returns the order if it already has a cash payment with the same reference, otherwise undefined. Fails if that
       * payment has another amount.
       */
      const paidBefore = Effect.fnUntraced(function* (
        { user }: Cart,
        orderId: string | undefined,
        { amount, external_reference: reference }: CheckoutCartRequest,
      ) {
        if (orderId === undefined || reference == null) return undefined
        const order = yield* orders.find(orderId)
        const booked = order && findBooked(order.context.payments, reference)
        if (order === undefined || booked === undefined) return undefined
        return amount == null || amount === booked.cents
          ? repeatedTurn(user, order)
          : yield* otherAmount(order, reference, booked.cents)
      })

      /** Checks the request and runs the turn that decides it. */
      const checkOut = Effect.fnUntraced(function* (
        principal: Principal,
        orderId: string | undefined,
        request: CheckoutCartRequest,
        { fees, organizationId }: CheckoutSource,
      ) {
        const { method } = request
        yield* payments.checkMethod(method)
        yield* checkRequest(principal, request)
        const buyer = yield* buyerOf(principal, orderId)
        const cart = yield* carts.recall(buyer)
        yield* checkEmail(cart.user)
        const requestedKey = yield* checkKey(cart.user, request.pubkey)
        const requested: RequestedCheckout = { method, orderId, requestedKey }
        const known = repeated(cart, requested)
        if (known !== undefined) return unchanged(known)
        const defaultKey = cart.user.pubkeys[0] ?? (yield* keys.of(buyer))
        const formerKey = yield* formerOperationKey(request)
        const ttlSeconds = cartTtlSeconds
        const fixed = { request, requestedKey, defaultKey, organizationId, fees, ttlSeconds, formerKey }
        const runTurn = (only: string | undefined, found: Cart | undefined) => {
          const committed = carts.complete(
            buyer,
            (order, at, user) => decide({ order, at, user, ...fixed }),
            { only, found },
          )
          return Effect.catchTags(committed, {
            IdsTaken: ({ canonicals }) => unavailableItems(buyer, canonicals),
            LimitReached: () => Effect.fail(notFree(0)),
            Unprocessable: (refused) =>
              refused === cashBooked
                ? Effect.map(carts.get(buyer), ({ order, user }) => unchanged(repeatedTurn(user, order)))
                : Effect.fail(refused),
            // The event is also refused if an earlier or a concurrent request has already committed the same
            // checkout.
            EventRefused: (refused) =>
              Effect.gen(function* () {
                const same =
                  method === "Cash"
                    ? yield* paidBefore(cart, orderId, request)
                    : repeated(yield* carts.get(buyer), requested)
                return same === undefined ? yield* refused : unchanged(same)
              }),
          })
        }
        // `checkout.hold` is committed without the Idempotency-Key. An attempt that has lost its key must not continue with
        // the user's next cart after another attempt has paid this one.
        const isKeyed = (yield* CurrentOperation) !== undefined
        const first = yield* runTurn(orderId ?? (isKeyed ? cart.order.context.id : undefined), cart)
        if (first.outcome.event !== "checkout.hold") return first
        // The hold is not stored with the Idempotency-Key. After a crash the request continues from the held order.
        yield* checkBoxes(first.outcome)
        return yield* runTurn(first.outcome.order.context.id, undefined)
      })

      return Checkouts.of({
        run: Effect.fnUntraced(function* (principal, orderId, request, source = {}) {
          const turn = yield* atMostOnce(checkOut(principal, orderId, request, source))
          // What follows can run again after a crash.
          yield* failPoints.pass("checkout.after_commit")
          yield* checkBoxes(turn)
          const { intent, replaced = [] } = turn.order.context
          const last = turn.before.intent
          // If a partial payment in cash removed the intent, the intent from before this turn has the wrong amount. So
          // it is cancelled. A replaced intent is cancelled below.
          if (intent === undefined && !replaced.some(({ intentId }) => intentId === last?.intentId))
            yield* payments.abandon(last)
          const settled = replaced.length === 0 ? turn.order : yield* replacedIntents.cancel(turn.order)
          const order = yield* payments.ensureIntent(settled)
          yield* failPoints.pass("checkout.before_answer")
          return { ...turn, order }
        }),
      })
    }),
  )
}
