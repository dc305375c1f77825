import { Effect } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import type { OrderEvent } from "../../../machines/orders/context.ts"
import { ItemPrices } from "../checkout/price-items.ts"
import type { Seen, StoredOrder } from "../order-store.ts"
import { Payments } from "../payments/payments.ts"
import { Carts } from "./cart.ts"
import { checkAddable, claimsOf, type WantedItem } from "./items.ts"

/**
 * Removes the errors `IdsTaken` and `LimitReached` from the type of a turn that claims nothing. Such a turn cannot
 * cause them, so they are treated as defects.
 */
export const unclaimed = <A, E, R>(
  effect: Effect.Effect<A, E | { readonly _tag: "IdsTaken" } | { readonly _tag: "LimitReached" }, R>,
) =>
  effect.pipe(
    Effect.catchIf(
      (error): error is Extract<typeof error, { readonly _tag: "IdsTaken" | "LimitReached" }> => {
        const tag = (error as { readonly _tag?: unknown })._tag
        return tag === "IdsTaken" || tag === "LimitReached"
      },
      Effect.die,
    ),
  ) as Effect.Effect<A, Exclude<E, { readonly _tag: "IdsTaken" | "LimitReached" }>, R>

/** The claims that make an item `Taken`. */
const takenIn = ({ held }: Seen): ReadonlyArray<string> =>
  [...held].filter(([, { reason }]) => reason === "Taken").map(([claim]) => claim)

const decideAdd = Effect.fnUntracedEager(function* (
  { context, status }: StoredOrder,
  quoted: ReturnType<ItemPrices["Service"]["wanted"]>,
  at: string,
  tracking: unknown,
  seen: Seen,
) {
  const items = yield* quoted
  if (status === "Draft") yield* checkAddable(context, items)
  const added = { type: "add", items, at, taken: takenIn(seen) } as const
  const event: OrderEvent = tracking == null ? added : { ...added, tracking }
  return { event }
})

export const addToCart = (userId: string, wanted: ReadonlyArray<WantedItem>, tracking?: unknown) =>
  ItemPrices.use((itemPrices) =>
    Carts.use((carts) =>
      carts.complete(
        userId,
        (order, at, _user, seen) => decideAdd(order, itemPrices.wanted(wanted, at, seen), at, tracking, seen),
        { also: claimsOf(wanted) },
      ),
    ),
  ).pipe(unclaimed, atMostOnce)

export const removeFromCart = (userId: string, itemId: string) =>
  Carts.use((carts) =>
    carts.complete(userId, (_order, at, _user, seen) =>
      Effect.succeed({ event: { type: "remove", itemId, at, taken: takenIn(seen) } }),
    ),
  ).pipe(unclaimed, atMostOnce)

/** Empties a draft, or cancels a pending order with its payment intent. */
export const clear = Effect.fnUntraced(function* (userId: string) {
  const turn = yield* Carts.use((carts) =>
    carts.complete(userId, ({ status }, at) =>
      Effect.succeed({ event: { type: status === "PendingPayment" ? "cancel" : "clear", at } }),
    ),
  ).pipe(unclaimed, atMostOnce)
  if (turn.order.status === "Cancelled")
    yield* Payments.use((payments) => payments.abandon(turn.before.intent))
  return turn
})

/** Returns a pending order to the state Draft. Releases its ids and cancels its payment intent. */
export const returnToDraft = Effect.fnUntraced(function* (userId: string) {
  const turn = yield* Carts.use((carts) =>
    carts.complete(userId, (_, at) => Effect.succeed({ event: { type: "convert_to_draft", at } })),
  ).pipe(unclaimed, atMostOnce)
  yield* Payments.use((payments) => payments.abandon(turn.before.intent))
  return turn
})
