import { Context, Effect, Layer } from "effect"
import { BoundedMap } from "../../../actors/bounded-map.ts"
import { Written } from "../../../actors/operation.ts"
import { OrderActors, type OrderSnapshot } from "../../../actors/order.ts"
import type { IdsTaken, LimitReached } from "../../../actors/ports.ts"
import { begun } from "../../../machines/orders/changes.ts"
import type { OrderEvent, OrderInput } from "../../../machines/orders/context.ts"
import type { DisplayUser } from "../../../schema/accounts/user.ts"
import {
  type EventRefused,
  NotFound,
  Unavailable,
  type Unprocessable,
  type UnsupportedEmoji,
} from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import type { TurnEffects } from "../../../schema/turn.ts"
import { Users } from "../../accounts/user-store.ts"
import {
  claimsToSee,
  type Held,
  type NewestCart,
  Orders,
  type Seen,
  type StoredOrder,
} from "../order-store.ts"
import { refusalError, refusedByState } from "../refusals.ts"
import { nextCart } from "./items.ts"

export interface Cart {
  readonly user: DisplayUser
  readonly order: StoredOrder
  /** The data to create the cart with. Undefined if the cart is already stored. */
  readonly create: OrderInput | undefined
  readonly seen: Seen
}
/** `Seen` as a JSON value. */
interface SeenLists {
  readonly claims: ReadonlyArray<string>
  readonly held: ReadonlyArray<readonly [string, Held]>
}
/** A turn of a cart, as a JSON value: the outcome of a request with an Idempotency-Key. */
export interface CartTurn {
  readonly user: DisplayUser
  readonly order: StoredOrder
  readonly before: {
    readonly status: StoredOrder["status"]
    readonly intent?: StoredOrder["context"]["intent"]
  }
  readonly seen?: SeenLists
  /** The type of the committed event. Undefined if an earlier request made the change, and nothing was committed. */
  readonly event?: OrderEvent["type"] | undefined
}

/** The event to send to the cart, and effects to commit in addition to those that the machine computes. */
export interface CartDecision {
  readonly event: OrderEvent
  readonly effects?: TurnEffects | undefined
}

/** The errors of a cart request, without those that a turn adds: `EventRefused`, `IdsTaken` and `LimitReached`. */
export type CartRefusal = Unprocessable | UnsupportedEmoji | NotFound | Unavailable

type Decide = (
  order: StoredOrder,
  at: string,
  user: DisplayUser,
  seen: Seen,
) => Effect.Effect<CartDecision, CartRefusal | EventRefused>

type TurnFailure = CartRefusal | EventRefused | IdsTaken | LimitReached

interface CartTurnOptions {
  /** The id of the order that the caller expects. The turn is refused if the user's cart is now another order. */
  readonly only?: string | undefined
  readonly also?: ReadonlyArray<string>
  /** The cart, if the caller has already read it. The first attempt then does not read it again. */
  readonly found?: Cart | undefined
}

const maxAttempts = 4
const maxRemembered = 20_000

export const storedOf = (snapshot: OrderSnapshot): StoredOrder => ({
  status: snapshot.value,
  context: snapshot.context,
})

const unseen: Seen = { claims: new Set(), held: new Map() }

const listsOf = ({ claims, held }: Seen): SeenLists => ({ claims: [...claims], held: [...held] })
export const seenOf = ({ claims, held }: SeenLists): Seen => ({
  claims: new Set(claims),
  held: new Map(held),
})

/** The result of a request for an order that an earlier request has already changed. */
export const repeatedTurn = (user: DisplayUser, order: StoredOrder): CartTurn => ({
  user,
  order,
  before: { status: order.status, intent: order.context.intent },
})

const cartOf = ({ order, paid, user }: Omit<NewestCart, "seen">, seen: Seen): Cart => {
  if (order !== undefined && (order.status === "Draft" || order.status === "PendingPayment"))
    return { user, order, create: undefined, seen }
  const create = nextCart(user.id, { order, paid }, user.created_at)
  return { user, order: { status: "Draft", context: begun(create) }, create, seen }
}

/**
 * Caches the id of each user's newest order. A new order is always created by a turn of the cart, so a cached id is
 * current if only one process runs. With several processes a cached id can be outdated. The turn is then refused
 * because of the order's state or version, and the cart is read from the database.
 */
class NewestOrders {
  readonly #ids = new BoundedMap<string>(maxRemembered)

  of(userId: string): string | undefined {
    return this.#ids.get(userId)
  }

  became(userId: string, orderId: string): void {
    this.#ids.renew(userId, orderId)
  }

  /**
   * Stores the id of an order that was read from the database. An id that is already cached stays, because a turn may
   * have stored it after the read started.
   */
  found(userId: string, orderId: string | undefined): void {
    if (orderId !== undefined && !this.#ids.has(userId)) this.became(userId, orderId)
  }
}

/** Reads and changes the cart of a user, which is the user's open order. The first turn of a new cart stores it. */
export class Carts extends Context.Service<
  Carts,
  {
    /** Reads the cart from the database. `also` names further ids whose claims are read with the same statement. */
    get(userId: string, also?: ReadonlyArray<string>): Effect.Effect<Cart, NotFound | Unavailable>
    /**
     * Returns the cart to decide a request with. If the cart is cached, nothing is read from the database, and `seen`
     * is empty.
     */
    recall(userId: string): Effect.Effect<Cart, NotFound | Unavailable>
    /** Runs one turn on the current cart. If the order was closed concurrently, the turn runs on the next cart. */
    turn(userId: string, decide: Decide, options?: CartTurnOptions): Effect.Effect<CartTurn, TurnFailure>
    /**
     * Runs the turn that completes the request: the turn is also stored with the Idempotency-Key. A turn with the event
     * `checkout.hold` is not stored, because another turn follows it.
     */
    complete(
      userId: string,
      decide: Decide,
      options?: CartTurnOptions,
    ): Effect.Effect<Written<CartTurn>, TurnFailure>
  }
>()("directory/Carts") {
  static readonly layer = Layer.effect(
    Carts,
    Effect.gen(function* () {
      const orders = yield* Orders
      const actors = yield* OrderActors
      const users = yield* Users
      const newest = new NewestOrders()

      const get = Effect.fnUntraced(function* (userId: string, also?: ReadonlyArray<string>) {
        const found = yield* orders.newestCart(userId, also)
        if (found === undefined) return yield* new NotFound({ error: "User not found." })
        newest.found(userId, found.order?.context.id ?? found.paid?.id)
        return cartOf(found, found.seen)
      })

      /** The cart from the caches, without claims. Undefined if the user or the order is not cached. */
      const remembered = (userId: string): Omit<NewestCart, "seen"> | undefined => {
        const user = users.remembered(userId)
        const id = newest.of(userId)
        if (user === undefined || id === undefined) return undefined
        const loaded = actors.remembered(id)
        if (loaded === undefined) return undefined
        const order = storedOf(loaded.snapshot)
        return order.status === "Paid"
          ? { user, order: undefined, paid: order.context }
          : { user, order, paid: undefined }
      }

      const recall = (userId: string) => {
        const known = remembered(userId)
        return known === undefined ? get(userId) : Effect.succeed(cartOf(known, unseen))
      }

      /** Reads the cart with its claims. If the cart is cached, only the claims are read from the database. */
      const look = (userId: string, also: ReadonlyArray<string>) => {
        const known = remembered(userId)
        if (known === undefined) return get(userId, also)
        const claims = [...claimsToSee(known.order), ...also]
        return Effect.map(orders.held(claims), (held) => cartOf(known, { claims: new Set(claims), held }))
      }

      const begunNow = ({ id, items, userId }: OrderInput): OrderInput => ({
        id,
        userId,
        createdAt: isoTime(actors.now()),
        items,
      })

      const refuseClosed = Effect.fnUntraced(function* (orderId: string) {
        const order = yield* orders.find(orderId)
        if (order === undefined) return yield* new NotFound({ error: "Order not found." })
        return yield* refusedByState(order)
      })

      const run = Effect.fnUntraced(function* (
        userId: string,
        decide: Decide,
        { also = [], found, only }: CartTurnOptions,
        completes: (event: OrderEvent) => boolean,
      ) {
        for (let tries = 1; ; tries++) {
          const cart = tries > 1 ? yield* get(userId, also) : (found ?? (yield* look(userId, also)))
          if (only !== undefined && cart.order.context.id !== only) return yield* refuseClosed(only)
          let before = cart.order
          let decision: CartDecision | undefined
          const outcomeOf = (snapshot: OrderSnapshot): CartTurn => ({
            ...repeatedTurn(cart.user, before),
            order: storedOf(snapshot),
            seen: listsOf(cart.seen),
            event: decision?.event.type,
          })
          const turn = actors.turn(
            cart.order.context.id,
            ({ snapshot }, now) => {
              before = storedOf(snapshot)
              decision = undefined
              return Effect.mapEager(decide(before, isoTime(now), cart.user, cart.seen), (made) => {
                decision = made
                return made.event
              })
            },
            {
              also: () => decision?.effects ?? {},
              create: cart.create === undefined ? undefined : begunNow(cart.create),
              outcome: (next) =>
                decision !== undefined && completes(decision.event) ? outcomeOf(next) : undefined,
            },
          )
          const loaded = yield* Effect.catchTags(turn, {
            // If the order was paid or cancelled after it was read, the next attempt reads and uses the user's next
            // cart.
            EventRefused: (refused) => {
              if (decision === undefined) return Effect.fail(refused)
              return tries < maxAttempts && (before.status === "Paid" || before.status === "Cancelled")
                ? Effect.succeed(undefined)
                : Effect.fail(refusalError(before, decision.event, cart.user))
            },
            UniqueConflict: (conflict) =>
              tries < maxAttempts
                ? Effect.succeed(undefined)
                : Effect.fail(
                    new Unavailable({
                      error: `Too many concurrent changes of this cart (${conflict.constraint}). Try again.`,
                      retryAfterSeconds: 1,
                    }),
                  ),
          })
          if (loaded !== undefined) {
            const { id } = loaded.snapshot.context
            const last = newest.of(userId)
            newest.became(userId, id)
            // The previous order is closed, so its actor is removed from memory.
            if (last !== undefined && last !== id) actors.passivate(last)
            return new Written(loaded.written.outcome ?? outcomeOf(loaded.snapshot))
          }
        }
      })

      return Carts.of({
        get,
        recall,
        turn: (userId, decide, options = {}) =>
          Effect.map(
            run(userId, decide, options, () => false),
            ({ outcome }) => outcome,
          ),
        complete: (userId, decide, options = {}) =>
          run(userId, decide, options, ({ type }) => type !== "checkout.hold"),
      })
    }),
  )
}
