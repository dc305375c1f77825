import { Context, Effect, Layer, type Types } from "effect"
import type { Checkout, OrderEvent } from "../../../machines/orders/context.ts"
import { dueCents, totalCents } from "../../../machines/orders/money.ts"
import type { DisplayUser } from "../../../schema/accounts/user.ts"
import { type EventRefused, type Forbidden, NotFound } from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import type { CheckoutCartRequest } from "../../../schema/orders/order.ts"
import type { TurnEffects } from "../../../schema/turn.ts"
import { AppConfig } from "../../config/config.ts"
import { FailPoints } from "../../config/fail-points.ts"
import type { Principal } from "../../http/principal.ts"
import { DefaultPubkeys } from "../../keys/default-pubkey.ts"
import { freshRun, type Run } from "../../turns/operation-key.ts"
import { type Cart, type CartRefusal, Carts, type CartTurn } from "../cart/cart.ts"
import { ineligible, lostTo } from "../cart/items.ts"
import { unclaimed } from "../cart/turns.ts"
import { Orders, type StoredOrder } from "../order-store.ts"
import { Payments } from "../payments/payments.ts"
import {
  checkCash,
  checkEmail,
  checkKey,
  checkRequest,
  emptyCart,
  holdBefore,
  isRepeated,
  notFree,
  type RequestedCheckout,
  takenBefore,
  tooLittle,
} from "./check-request.ts"
import { freeDiscounts } from "./discounts.ts"
import { ItemPrices } from "./price-items.ts"

interface Facts {
  /** The key the request names. */
  readonly wanted: string | undefined
  readonly firstKey: string
  readonly run: (orderId: string) => Run
  /** What the decision wants committed with it. */
  effects: TurnEffects
  /** It only holds what is to be paid for. */
  isHold: boolean
}

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
        /** Names the request: the same one twice books its cash once. */
        readonly run?: (orderId: string) => Run
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

      const decide = Effect.fnUntracedEager(function* (
        { context, status }: StoredOrder,
        at: string,
        user: DisplayUser,
        request: CheckoutCartRequest,
        facts: Facts,
        organizationId: string | undefined,
      ) {
        if (context.items.length === 0) return yield* emptyCart
        const ends = isoTime(Date.parse(at) + cartTtlSeconds * 1000)
        const { method } = request
        // An order that waits for its payment keeps the partner it came through.
        const partner = organizationId ?? context.checkout?.organizationId
        // And the key its buyer chose: who ends the checkout, perhaps an administrator, need not know it.
        const chosen = user.pubkeys.find((key) => key === context.checkout?.pubkey)
        const checkout: Types.Mutable<Checkout> = {
          method,
          at,
          pubkey: facts.wanted ?? chosen ?? facts.firstKey,
        }
        if (user.email !== undefined) checkout.email = user.email
        if (request.success_url != null) checkout.successUrl = request.success_url
        if (request.cancel_url != null) checkout.cancelUrl = request.cancel_url
        if (partner !== undefined) checkout.organizationId = partner
        // A pending order keeps the prices it was offered at.
        const items = status === "Draft" ? yield* itemPrices.again(context.items, at) : context.items
        const tracking = request.tracking_data == null ? {} : { tracking: request.tracking_data }
        yield* failPoints.pass("checkout.before_commit")
        if (method === "Free") {
          // Nothing is waived of what is paid for already.
          if (totalCents(items) > 0 && dueCents({ ...context, items }) === 0)
            return { type: "checkout.payment", at, items, checkout, ...tracking } as OrderEvent
          const waived = freeDiscounts(items, at)
          const free = [...items, ...waived]
          if (totalCents(free) !== 0 || waived.length > user.remaining_free_emoji)
            return yield* notFree(user.remaining_free_emoji)
          return {
            type: "checkout.free",
            at,
            items: free,
            checkout,
            freeIds: waived.length,
            ...tracking,
          } satisfies OrderEvent as OrderEvent
        }
        if (method === "Cash") {
          const cents = request.amount ?? dueCents({ ...context, items })
          const reference = request.external_reference
          const payment = {
            fact: yield* checkCash(context, facts.run(context.id), at),
            provider: "cash",
            cents,
            at,
            ...(reference == null ? {} : { externalReference: reference }),
          }
          return {
            type: "checkout.cash",
            at,
            items,
            checkout,
            payment,
            ...tracking,
          } satisfies OrderEvent as OrderEvent
        }
        const refused =
          status === "Draft" ? payments.tooLittle(method, dueCents({ ...context, items })) : undefined
        if (refused !== undefined) return yield* tooLittle(refused)
        const awaited = { expiresAt: ends, ...checkout, method }
        const foreseen = yield* payments.foresee(context, items, awaited)
        facts.effects = foreseen?.effects ?? {}
        return {
          type: "checkout.payment",
          at,
          items,
          checkout: awaited,
          ...(foreseen === undefined ? {} : { intent: foreseen.intent }),
          ...tracking,
        } satisfies OrderEvent as OrderEvent
      })

      const loserAnswer = Effect.fnUntraced(function* (userId: string, taken: ReadonlyArray<string>) {
        const { order, seen } = yield* carts.get(userId, taken)
        return yield* lostTo(order.context.items, taken, seen)
      })

      /** A box may have been filled anew between the look at it and the hold on it, which keeps it as it is. */
      const checkBoxes = Effect.fnUntracedEager(function* (buyer: string, { context, status }: StoredOrder) {
        if (status !== "PendingPayment" || !(yield* itemPrices.hasOtherBoxes(context.items))) return
        const takeBack = (_: StoredOrder, at: string) =>
          Effect.succeed({ type: "convert_to_draft", at } as const)
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

      return Checkouts.of({
        run: Effect.fnUntraced(function* (principal, orderId, request, options = {}) {
          const { organizationId, run = freshRun } = options
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
          const firstKey = cart.user.pubkeys[0] ?? (yield* keys.of(buyer))
          const facts: Facts = { wanted, firstKey, run, effects: {}, isHold: false }
          const decideOn = (order: StoredOrder, at: string, user: DisplayUser) =>
            Effect.mapEager(decide(order, at, user, request, facts, organizationId), (event) => {
              const hold = holdBefore(order, event, cartTtlSeconds)
              facts.isHold = hold !== undefined
              return hold ?? event
            })
          const take = (only: string | undefined, found: Cart | undefined) =>
            Effect.catchTags(carts.turn(buyer, decideOn, { only, found, with: () => facts.effects }), {
              IdsTaken: ({ canonicals }) => loserAnswer(buyer, canonicals),
              LimitReached: () => Effect.fail(notFree(0)),
              Unprocessable: (refused) =>
                refused === takenBefore
                  ? Effect.map(carts.get(buyer), ({ order, user }) => ({ user, order, before: order }))
                  : Effect.fail(refused),
              // Perhaps because the same request, sent twice, was faster.
              EventRefused: (refused) =>
                carts.get(buyer).pipe(
                  Effect.flatMap((now) => repeated(now, asked)),
                  Effect.flatMap((same) =>
                    same === undefined ? Effect.fail(refused) : Effect.succeed(same),
                  ),
                ),
            })
          let taken = yield* take(orderId, cart)
          yield* failPoints.pass("checkout.after_commit")
          if (taken.before.status === "Draft") yield* checkBoxes(buyer, taken.order)
          if (facts.isHold) taken = yield* take(taken.order.context.id, undefined)
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
