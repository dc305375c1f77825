import type { DisplayOrder } from "../../client/api-types.ts"
import {
  acceptsCards,
  acceptsCrypto,
  checkOutFree,
  followInTab,
  payByCard,
  payWithCrypto,
} from "./checkout.ts"
import type { View } from "./main.ts"
import { drawOrderHistory } from "./orders.ts"
import { actionButton, actionForm } from "./parts/actions.ts"
import { badge, emojiText, empty, field, fill, h } from "./parts/dom.ts"
import { counted, dollars, remaining } from "./parts/format.ts"
import { notify } from "./parts/notices.ts"
import { coalesced, Lifetime } from "./parts/signal.ts"
import { call } from "./platform/api.ts"
import { serverNow } from "./platform/http.ts"
import { account } from "./platform/session.ts"
import { type CartItem, cart, loadCart, showCart } from "./platform/store.ts"

type Order = DisplayOrder

const invalidLabels: Readonly<Record<string, string>> = {
  Taken: "No longer available",
  PendingPurchase: "Held by another buyer",
}

const itemName = (item: CartItem) =>
  item.item_type === "EmojiId"
    ? emojiText(item.emoji_id ?? "")
    : h("span", { class: "emoji" }, item.item_type === "LootBox" ? "🎁" : "🏷️")

const itemLabel = (item: CartItem): string =>
  item.item_type === "EmojiId" ? (item.emoji_id ?? "") : item.item_type === "LootBox" ? "Lootbox" : "Discount"

const removeItem = ({ id }: CartItem) =>
  call("DELETE /cart/cart_items/{cart_item_id}", { params: { cart_item_id: id } })

const itemRow = (order: Order, item: CartItem) => {
  const canRemove = order.status === "Draft" && item.item_type !== "Discount"
  const reason = item.marked_invalid_at_reason
  return h(
    "li",
    { class: "cart-item" },
    h(
      "span",
      { class: "cart-what" },
      itemName(item),
      item.item_type !== "EmojiId" && itemLabel(item),
      item.rhythm_score !== undefined && h("span", { class: "soft small" }, `score ${item.rhythm_score}`),
      reason && badge(invalidLabels[reason] ?? reason, "bad"),
    ),
    h("span", { class: "cart-price" }, dollars(item.unit_price_in_cents)),
    canRemove &&
      actionButton("×", async () => showCart(await removeItem(item)), {
        class: "icon-button",
        "aria-label": `Remove ${itemLabel(item)} from the cart`,
      }),
  )
}

/** Shows the time left to pay. At zero, the view waits until the service reports that the cart expired. */
const countdown = (expiresAt: string, lifetime: Lifetime) => {
  const clock = h("strong", { class: "clock", role: "timer" })
  const line = h("p", { class: "hold" }, "Time left to pay ", clock)
  const deadline = Date.parse(expiresAt)
  let timer: ReturnType<typeof setTimeout> | undefined
  const tick = () => {
    const left = deadline - serverNow()
    fill(clock, remaining(left))
    line.classList.toggle("soon", left < 60_000)
    if (left > 0) timer = setTimeout(tick, left % 1000 || 1000)
  }
  tick()
  lifetime.onEnd(() => clearTimeout(timer))
  return line
}

/** Shows the paid and the remaining amount after a partial payment. */
const paidLine = ({ remaining_due_in_cents: due, total_in_cents: total }: Order) =>
  due > 0 &&
  due < total &&
  h("p", { class: "total" }, `${dollars(total - due)} paid, remaining amount `, h("strong", {}, dollars(due)))

/** The button for an order with nothing left to pay: fully paid, or free. */
const completeButton = ({ total_in_cents: total }: Order) =>
  actionButton(total > 0 ? "Complete order" : "Get for free", checkOutFree)

/**
 * Returns the number of free ids that the user has left, if they cover every item that still has a price after
 * discounts. Otherwise returns 0. Lootboxes are never free.
 */
const freeFor = ({ order_items: items }: Order): number => {
  const free = account.value?.user.remaining_free_emoji ?? 0
  const left = ({ id, unit_price_in_cents: price }: CartItem) =>
    items.reduce((sum, item) => (item.parent_id === id ? sum + item.unit_price_in_cents : sum), price)
  const costly = items.filter((item) => item.item_type !== "Discount" && left(item) > 0)
  return costly.every(({ item_type }) => item_type === "EmojiId") && costly.length <= free ? free : 0
}

const freeButton = (free: number) =>
  actionButton(`Get for free (${counted(free, "free id")} left)`, checkOutFree, { class: "plain" })

const draftActions = (order: Order) => {
  const free = freeFor(order)
  const due = order.remaining_due_in_cents
  const payButton = acceptsCards() && actionButton(`Pay ${dollars(due)} by card`, payByCard)
  // The service refuses the checkout of a cart with such an item.
  const hasTaken = order.order_items.some((item) => item.marked_invalid_at_reason === "Taken")
  return [
    paidLine(order),
    hasTaken && h("p", { class: "bad" }, "Remove the items that are no longer available to continue."),
    due > 0 &&
      !acceptsCards() &&
      h("p", { class: "soft" }, "Card payments are not configured on this server."),
    h(
      "div",
      { class: "row" },
      !hasTaken && (due > 0 ? payButton : completeButton(order)),
      !hasTaken && due > 0 && free > 0 && freeButton(free),
      actionButton("Empty cart", async () => showCart(await call("DELETE /cart")), { class: "plain" }),
    ),
  ]
}

/** The other ways to pay a pending order. The service replaces the payment; the time left to pay does not change. */
const otherMethods = (order: Order) => {
  const isCrypto = order.payment_method_data?.method === "CryptoCommerce"
  const free = freeFor(order)
  const buttons = [
    isCrypto && acceptsCards() && actionButton("Pay by card instead", payByCard, { class: "plain" }),
    !isCrypto &&
      acceptsCrypto() &&
      actionButton("Pay with crypto instead", payWithCrypto, { class: "plain" }),
    free > 0 && freeButton(free),
  ].filter((button) => button !== false)
  return (
    order.remaining_due_in_cents > 0 &&
    buttons.length > 0 &&
    h("div", { class: "row", role: "group", "aria-label": "Change the payment method" }, buttons)
  )
}

const pendingActions = (order: Order) => [
  paidLine(order),
  order.last_payment_error && h("p", { class: "bad", role: "alert" }, order.last_payment_error),
  h(
    "div",
    { class: "row" },
    order.payment_method_data?.checkout_url &&
      h(
        "a",
        {
          class: "button",
          href: order.payment_method_data.checkout_url,
          target: "_blank",
          rel: "noopener",
          onclick: followInTab,
        },
        `Pay ${dollars(order.remaining_due_in_cents)}`,
      ),
    order.remaining_due_in_cents <= 0 && completeButton(order),
    actionButton("Edit cart", async () => showCart(await call("POST /cart/convert_to_draft")), {
      class: "plain",
    }),
    actionButton(
      "Cancel order",
      async () => {
        await call("DELETE /cart")
        await loadCart()
        notify("The order was cancelled.")
      },
      { class: "plain" },
    ),
  ),
  otherMethods(order),
]

/**
 * The form for a promo code. It is separate from the cart, so that typed text is not lost when the cart is redrawn.
 */
const promoForm = () =>
  h(
    "section",
    { class: "card", hidden: true },
    actionForm(
      {
        label: "Apply",
        plain: true,
        name: "Discount",
        submit: async (values, form) => {
          const code = values.text("code").trim()
          showCart(await call("POST /cart/promo_code", { body: { code } }))
          form.reset()
          notify("The code was applied.", "good")
        },
      },
      field("Promo code", { name: "code", maxlength: "64", required: true }),
    ),
  )

const expiredView = (expired: ReadonlyArray<CartItem>) =>
  h(
    "section",
    { class: "card expired" },
    empty(
      "⌛",
      "Your cart is empty because the time to pay expired.",
      expired.length > 0 && h("p", { class: "soft" }, expired.map(itemLabel).join(" ")),
      h("div", { class: "row middle" }, actionButton("Restore cart", loadCart)),
    ),
  )

const orderView = (order: Order, lifetime: Lifetime) => {
  if (order.order_items.length === 0)
    return empty("🛒", "Your cart is empty.", h("a", { class: "button", href: "#/market" }, "Find an id"))
  const isPending = order.status === "PendingPayment"
  return h(
    "section",
    { class: "card", "aria-label": "Cart" },
    isPending && order.expires_at !== undefined && countdown(order.expires_at, lifetime),
    h(
      "ul",
      { class: "cart-items" },
      order.order_items.map((item) => itemRow(order, item)),
    ),
    h("p", { class: "total" }, "Total ", h("strong", {}, dollars(order.total_in_cents))),
    isPending ? pendingActions(order) : draftActions(order),
    !isPending &&
      acceptsCards() &&
      h("p", { class: "soft small" }, "You can enter a promo code in the next step."),
  )
}

/** Returns a text of everything that the cart view shows. The view is redrawn only when this text changes. */
const shownState = ({ expired, order }: typeof cart.value): string =>
  JSON.stringify([
    expired?.length,
    order?.status,
    order?.expires_at,
    order?.remaining_due_in_cents,
    order?.payment_method_data?.checkout_url,
    order?.last_payment_error,
    order?.order_items.map((item) => [item.id, item.unit_price_in_cents, item.marked_invalid_at_reason]),
    account.value?.user.remaining_free_emoji,
  ])

export const draw: View["draw"] = async (root, lifetime) => {
  const place = h("div", {})
  const history = h("div", {})
  const promo = promoForm()
  root.append(h("h1", {}, "Cart"), place, promo, h("h2", {}, "Orders"), history)
  if (cart.value.order === undefined && cart.value.expired === undefined) await loadCart()
  let readAgain: (() => Promise<void>) | undefined
  const readHistory = coalesced(async () => {
    if (readAgain === undefined) readAgain = await drawOrderHistory(history)
    else await readAgain()
  })
  let drawn = new Lifetime()
  let shown = ""
  lifetime.onEnd(() => drawn.end())
  lifetime.onEnd(
    cart.watch(({ expired, order }) => {
      readHistory().catch(() => {})
      const next = shownState({ expired, order })
      if (next === shown) return
      shown = next
      drawn.end()
      drawn = new Lifetime()
      promo.hidden = order?.status !== "PendingPayment"
      fill(
        place,
        expired !== undefined ? expiredView(expired) : order !== undefined && orderView(order, drawn),
      )
    }),
  )
  return "Cart"
}
