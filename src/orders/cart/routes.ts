import { Effect } from "effect"
import {
  EventRefused,
  NotFound,
  TwoFactorRequired,
  Unprocessable,
  UnsupportedEmoji,
} from "../../../schema/errors.ts"
import {
  AddItemsCartRequest,
  ApplyPromoCodeRequest,
  CheckoutCartRequest,
  DisplayOrder,
} from "../../../schema/orders/order.ts"
import { Uuid } from "../../../schema/wire-format.ts"
import { recordEvent } from "../../accounts/security-log/security-log.ts"
import { Users } from "../../accounts/user-store.ts"
import { route } from "../../http/route.ts"
import { Checkouts } from "../checkout/checkout.ts"
import { Promotions } from "../codes/promotions.ts"
import { OrderViews } from "../order-view.ts"
import { Carts, type CartTurn, seenOf } from "./cart.ts"
import { addToCart, clear, removeFromCart, returnToDraft } from "./turns.ts"

const shared = { group: "cart", auth: "apiKey", success: DisplayOrder } as const
const refusals = [EventRefused, NotFound, UnsupportedEmoji, Unprocessable] as const

const show = ({ order, seen, user }: Pick<CartTurn, "order" | "user" | "seen">) =>
  OrderViews.use((views) => views.show(order, user, seen && seenOf(seen)))

/**
 * Shows the order of a checkout. If the order is paid, the user is read again, because the checkout can have used free
 * ids or created a key.
 */
const showPaid = (turn: CartTurn) =>
  turn.order.status === "Paid"
    ? Effect.flatMap(
        Users.use((users) => users.get(turn.user.id)),
        (user) => show({ ...turn, user }),
      )
    : show(turn)

const recordCash = ({ event, order: { context } }: CartTurn, { amount, method }: CheckoutCartRequest) =>
  method === "Cash" && event !== undefined
    ? recordEvent({
        event: "order.cash_booked",
        userId: context.userId,
        details: { order_id: context.id, cents: amount ?? null },
      })
    : Effect.void

const getItems = route({
  ...shared,
  id: "getItems",
  summary: "Get the cart",
  description:
    "The open order of the user, which is created if there is none. Items that another user has claimed are marked, and items of an expired order are included again. The live channel `cart` reports every change.",
  method: "get",
  path: "/cart",
  scope: "cart:show",
  errors: [NotFound],
  handler: ({ principal }) =>
    Carts.use((carts) => carts.get(principal.userId)).pipe(
      Effect.flatMap(({ order, seen, user }) => OrderViews.use((views) => views.show(order, user, seen))),
    ),
})

const addItems = route({
  ...shared,
  id: "addItems",
  summary: "Add ids or lootboxes to the cart",
  description:
    "At current prices. Items in the cart are not reserved: a checkout claims them. The same id twice, or an id that cannot be bought, is 422 `eligibility`. An order pending payment is 409.",
  method: "post",
  path: "/cart",
  scope: "cart:update",
  limit: "write",
  body: AddItemsCartRequest,
  errors: refusals,
  handler: ({ body, principal }) =>
    addToCart(principal.userId, body.items, body.tracking_data).pipe(Effect.flatMap(show)),
})

const clearCart = route({
  ...shared,
  id: "clearCart",
  summary: "Empty the cart",
  description:
    "An order pending payment is cancelled and returned instead, and its ids become available at once.",
  method: "del",
  path: "/cart",
  work: "provider",
  scope: "cart:update",
  errors: refusals,
  handler: ({ principal }) => clear(principal.userId).pipe(Effect.flatMap(show)),
})

const removeItem = route({
  ...shared,
  id: "removeItem",
  summary: "Remove an item from the cart",
  description:
    "For a cart that is not pending payment; otherwise 409. The id in the path is `order_items[].id`.",
  method: "del",
  path: "/cart/cart_items/:cart_item_id",
  scope: "cart:update",
  access: { own: true },
  params: { cart_item_id: Uuid },
  errors: refusals,
  handler: ({ params, principal }) =>
    removeFromCart(principal.userId, params.cart_item_id.toLowerCase()).pipe(Effect.flatMap(show)),
})

const checkoutRow = {
  ...shared,
  method: "post",
  scope: "cart:update",
  sensitive: true,
  limit: "write",
  body: CheckoutCartRequest,
  errors: [...refusals, TwoFactorRequired],
} as const

const checkout = route({
  ...checkoutRow,
  id: "checkout",
  summary: "Check out the cart",
  description:
    "Holds all ids or none, at current prices, for some minutes: `expires_at`. For an order pending payment, another method replaces the payment, and the same method returns it again. It needs a confirmed email. 422 `eligibility`: another user has claimed an item; `GET /cart` marks it. 422 `method_unavailable`: the method has no payment provider. In production CardCheckout and WalletPay require Stripe, and CryptoCommerce is not available.",
  path: "/cart/checkout",
  work: "provider",
  handler: ({ body, principal }) =>
    Checkouts.use((checkouts) => checkouts.run(principal, undefined, body)).pipe(
      Effect.tap((turn) => recordCash(turn, body)),
      Effect.flatMap(showPaid),
    ),
})

const checkoutOrder = route({
  ...checkoutRow,
  id: "checkoutOrder",
  summary: "Check out an open order",
  description:
    "The same as `POST /cart/checkout` for the order in the path. Orders of other users require `adminCart:update`. Cash with the same `external_reference` is booked once; another amount with it is 409. 422 `method_unavailable`: the method has no payment provider.",
  path: "/cart/checkout/:id",
  work: "provider",
  access: { own: true, others: "adminCart:update" },
  params: { id: Uuid },
  handler: ({ body, params, principal }) =>
    Checkouts.use((checkouts) => checkouts.run(principal, params.id.toLowerCase(), body)).pipe(
      Effect.tap((turn) => recordCash(turn, body)),
      Effect.flatMap(showPaid),
    ),
})

const convertToDraft = route({
  ...shared,
  id: "convertOrderToDraft",
  summary: "Return an order pending payment to the cart. Releases the ids and cancels the payment",
  description:
    "Releases the ids and cancels the payment, so that the items can be changed. A payment that arrives later is not lost: the order is then paid, or can be refunded.",
  method: "post",
  path: "/cart/convert_to_draft",
  work: "provider",
  scope: "cart:update",
  errors: refusals,
  handler: ({ principal }) => returnToDraft(principal.userId).pipe(Effect.flatMap(show)),
})

const applyPromoCode = route({
  ...shared,
  id: "applyPromoCode",
  summary: "Apply a discount code to an order pending payment",
  description:
    "The discount is an item of its own with a negative price. A code that is unknown, used up, expired, or not valid for these items is 422.",
  method: "post",
  path: "/cart/promo_code",
  work: "provider",
  scope: "cart:update",
  limit: "code",
  body: ApplyPromoCodeRequest,
  errors: refusals,
  handler: ({ body, principal }) =>
    Promotions.use((promotions) => promotions.apply(principal.userId, body.code)).pipe(Effect.flatMap(show)),
})

export const cart = [
  getItems,
  addItems,
  clearCart,
  removeItem,
  checkout,
  checkoutOrder,
  convertToDraft,
  applyPromoCode,
] as const
