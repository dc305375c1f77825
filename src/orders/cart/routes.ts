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
import { Users } from "../../accounts/user-store.ts"
import { route } from "../../http/route.ts"
import { operationKeyOf } from "../../turns/operation-key.ts"
import { Checkouts } from "../checkout/checkout.ts"
import { Promotions } from "../codes/promotions.ts"
import { OrderViews } from "../order-view.ts"
import { Payments } from "../payments/payments.ts"
import { Carts, type CartTurn } from "./cart.ts"
import { addToCart, removeFromCart, returnToDraft, unclaimed } from "./turns.ts"

const shared = { group: "cart", auth: "apiKey", success: DisplayOrder } as const
const refusals = [EventRefused, NotFound, UnsupportedEmoji, Unprocessable] as const

const show = ({ order, seen, user }: Pick<CartTurn, "order" | "user" | "seen">) =>
  OrderViews.use((views) => views.show(order, user, seen))

/** A paid order may have used up free ids or made a key: its user is read again. */
const showPaid = (turn: CartTurn) =>
  turn.order.status === "Paid"
    ? Effect.flatMap(
        Users.use((users) => users.get(turn.user.id)),
        (user) => show({ ...turn, user }),
      )
    : show(turn)

const getItems = route({
  ...shared,
  id: "getItems",
  summary: "The caller's cart. Items others took are marked; what expired unpaid is offered again",
  method: "get",
  path: "/cart",
  scope: "cart:show",
  errors: [NotFound],
  handler: ({ principal }) => Carts.use((carts) => carts.get(principal.userId)).pipe(Effect.flatMap(show)),
})

const addItems = route({
  ...shared,
  id: "addItems",
  summary: "Put ids or lootboxes into the cart, at today's prices",
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
  summary: "Empty the cart. One that waits for its payment is cancelled instead, and answered as that order",
  method: "del",
  path: "/cart",
  scope: "cart:update",
  errors: refusals,
  handler: ({ principal }) =>
    Effect.gen(function* () {
      const turn = yield* Carts.use((carts) =>
        carts.turn(principal.userId, ({ status }, at) =>
          Effect.succeed({ event: { type: status === "PendingPayment" ? "cancel" : "clear", at } }),
        ),
      ).pipe(unclaimed)
      if (turn.order.status === "Cancelled")
        yield* Payments.use((payments) => payments.abandon(turn.before.context.intent))
      return yield* show(turn)
    }),
})

const removeItem = route({
  ...shared,
  id: "removeItem",
  summary: "Take one item out of the cart",
  method: "del",
  path: "/cart/cart_items/:cart_item_id",
  scope: "cart:update",
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
  summary:
    "Hold every id of the cart, or none, and ask for the payment. Prices are asked for again; when somebody else was faster the answer is 422 `eligibility`, and the cart shows which items are lost. A method without a payment provider is 422 `method_unavailable`: in production CardCheckout and WalletPay need Stripe, and CryptoCommerce is not available yet",
  path: "/cart/checkout",
  handler: ({ body, headers, principal }) =>
    Checkouts.use((checkouts) =>
      checkouts.run(principal, undefined, body, {
        operationKey: operationKeyOf(principal, headers, body),
      }),
    ).pipe(Effect.flatMap(showPaid)),
})

const checkoutOrder = route({
  ...checkoutRow,
  id: "checkoutOrder",
  summary:
    "Check out a given open order: one's own, or any for administrators. Without an Idempotency-Key the same part in cash is taken once for a day under the same reference, for ten minutes without one. A method without a payment provider is 422 `method_unavailable`",
  path: "/cart/checkout/:id",
  params: { id: Uuid },
  handler: ({ body, headers, params, principal }) =>
    Checkouts.use((checkouts) =>
      checkouts.run(principal, params.id.toLowerCase(), body, {
        operationKey: operationKeyOf(principal, headers, body),
      }),
    ).pipe(Effect.flatMap(showPaid)),
})

const convertToDraft = route({
  ...shared,
  id: "convertOrderToDraft",
  summary: "Take a cart back from its payment: the ids are free again, the payment is called off",
  method: "post",
  path: "/cart/convert_to_draft",
  scope: "cart:update",
  errors: refusals,
  handler: ({ principal }) => returnToDraft(principal.userId).pipe(Effect.flatMap(show)),
})

const applyPromoCode = route({
  ...shared,
  id: "applyPromoCode",
  summary: "Apply a discount code to a cart that waits for its payment",
  method: "post",
  path: "/cart/promo_code",
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
