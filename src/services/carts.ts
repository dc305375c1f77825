import { Context, Effect, Layer } from "effect"
import { allowedOrderEvents, OrderActors, type OrderSnapshot } from "../../actors/order.ts"
import type { IdsTaken, LimitReached } from "../../actors/ports.ts"
import { begun } from "../../machines/order-changes.ts"
import type { OrderEvent, OrderInput } from "../../machines/order-context.ts"
import {
  EventRefused,
  NotFound,
  Unavailable,
  type Unprocessable,
  type UnsupportedEmoji,
} from "../../schema/errors.ts"
import type { TurnEffects } from "../../schema/turn.ts"
import type { DisplayUser } from "../../schema/user.ts"
import { Orders, type Seen, type StoredOrder } from "../store/orders.ts"
import { nextCart } from "./cart-items.ts"
import type { Lootboxes } from "./lootboxes.ts"
import type { Market } from "./market.ts"
import { publicActions } from "./order-views.ts"

export interface Cart {
  readonly user: DisplayUser
  readonly order: StoredOrder
  /** Set while nothing of this cart is stored yet. */
  readonly create: OrderInput | undefined
  readonly seen: Seen
}
export interface CartTurn {
  readonly user: DisplayUser
  readonly order: StoredOrder
  readonly before: StoredOrder
  readonly seen?: Seen
}

/** Why a request for the cart is not even tried, and what deciding it looks at. */
export type CartRefusal = Unprocessable | UnsupportedEmoji | NotFound | Unavailable
export type CartNeeds = Market | Lootboxes

type Loaded = Effect.Success<ReturnType<OrderActors["Service"]["turn"]>>

interface CartTurnOptions {
  /** Refuses when the cart is another order by now. */
  readonly only?: string | undefined
  readonly also?: ReadonlyArray<string>
  /** The cart as it was found a moment ago. */
  readonly found?: Cart
  /** What is committed with the turn, asked for once it is decided. */
  readonly with?: () => TurnEffects
}

const maxAttempts = 4

/** Clients know operations, not events. */
export const refusedInPublic = (refused: EventRefused): EventRefused => {
  const { allowed, state } = (refused.details ?? {}) as { allowed?: ReadonlyArray<string>; state?: string }
  return new EventRefused({
    error: `The order is ${state}; it does not allow this.`,
    details: { state, allowed: publicActions(allowed ?? []) },
  })
}

export const storedOf = (snapshot: OrderSnapshot): StoredOrder => ({
  status: snapshot.value,
  context: snapshot.context,
})

/** A user's one open order: stored, or about to begin. */
export class Carts extends Context.Service<
  Carts,
  {
    /** Looks at these claims too, in the same statement. */
    get(userId: string, also?: ReadonlyArray<string>): Effect.Effect<Cart, NotFound | Unavailable>
    /** One turn of the cart, whichever order that is by the time it is taken. */
    turn(
      userId: string,
      decide: (
        order: StoredOrder,
        at: string,
        user: DisplayUser,
        seen: Seen,
      ) => Effect.Effect<OrderEvent, CartRefusal, CartNeeds>,
      options?: CartTurnOptions,
    ): Effect.Effect<CartTurn, CartRefusal | EventRefused | IdsTaken | LimitReached, CartNeeds>
  }
>()("directory/Carts") {
  static readonly layer = Layer.effect(
    Carts,
    Effect.gen(function* () {
      const orders = yield* Orders
      const actors = yield* OrderActors

      const get = Effect.fnUntraced(function* (userId: string, also?: ReadonlyArray<string>) {
        const found = yield* orders.newestCart(userId, also)
        if (found === undefined) return yield* new NotFound({ error: "There is no such user." })
        const { order, paid, seen, user } = found
        if (order !== undefined && (order.status === "Draft" || order.status === "PendingPayment")) {
          return { user, order, create: undefined, seen } satisfies Cart as Cart
        }
        const create = nextCart(userId, { order, paid }, user.created_at)
        return {
          user,
          order: { status: "Draft", context: begun(create) },
          create,
          seen,
        } satisfies Cart as Cart
      })

      const refuseClosed = Effect.fnUntraced(function* (orderId: string) {
        const order = yield* orders.find(orderId)
        if (order === undefined) return yield* new NotFound({ error: "There is no such order." })
        const details = { state: order.status, allowed: allowedOrderEvents(order.status) }
        return yield* refusedInPublic(new EventRefused({ details }))
      })

      return Carts.of({
        get,
        turn: Effect.fnUntraced(function* (userId, decide, { also, found, only, with: effects } = {}) {
          for (let tries = 1; ; tries++) {
            const cart = tries === 1 && found !== undefined ? found : yield* get(userId, also)
            if (only !== undefined && cart.order.context.id !== only) return yield* refuseClosed(only)
            let before = cart.order
            const taken: Loaded | undefined = yield* actors
              .turn(
                cart.order.context.id,
                ({ snapshot }, now) => {
                  before = storedOf(snapshot)
                  return decide(before, new Date(now).toISOString(), cart.user, cart.seen)
                },
                {
                  ...(effects === undefined ? {} : { also: effects }),
                  ...(cart.create === undefined
                    ? {}
                    : { create: { ...cart.create, createdAt: new Date(actors.now()).toISOString() } }),
                },
              )
              .pipe(
                Effect.catchTags({
                  // The cart ended under us, by its deadline or by a payment: the next one is the cart now.
                  EventRefused: (refused) =>
                    tries < maxAttempts && (before.status === "Paid" || before.status === "Cancelled")
                      ? Effect.succeed(undefined)
                      : Effect.fail(refusedInPublic(refused)),
                  UniqueConflict: (conflict) =>
                    tries < maxAttempts
                      ? Effect.succeed(undefined)
                      : Effect.fail(
                          new Unavailable({
                            error: `The cart is too busy (${conflict.constraint}).`,
                            retryAfterSeconds: 1,
                          }),
                        ),
                }),
              )
            if (taken !== undefined)
              return { user: cart.user, order: storedOf(taken.snapshot), before, seen: cart.seen }
          }
        }),
      })
    }),
  )
}
