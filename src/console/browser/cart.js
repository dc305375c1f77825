import { followInTab, payByCard, takeFree, takesCards } from "./checkout.js"
import { drawPast } from "./orders.js"
import { actionButton, actionForm } from "./parts/actions.js"
import { badge, emojiText, empty, field, fill, h } from "./parts/dom.js"
import { counted, dollars, remaining } from "./parts/format.js"
import { notify } from "./parts/notices.js"
import { coalesced, Life } from "./parts/signal.js"
import { call } from "./platform/api.js"
import { serverNow } from "./platform/http.js"
import { account } from "./platform/session.js"
import { cart, loadCart, showCart } from "./platform/store.js"

const invalidWords = { Taken: "somebody else has it", PendingPurchase: "somebody else is paying for it" }

const itemName = (item) =>
  item.item_type === "EmojiId"
    ? emojiText(item.emoji_id)
    : h("span", { class: "emoji" }, item.item_type === "LootBox" ? "🎁" : "🏷️")

const itemLabel = (item) =>
  item.item_type === "EmojiId" ? item.emoji_id : item.item_type === "LootBox" ? "Lootbox" : "Discount"

const itemRow = (order, item) => {
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
      reason && badge(invalidWords[reason] ?? reason, "bad"),
    ),
    h("span", { class: "cart-price" }, dollars(item.unit_price_in_cents)),
    canRemove &&
      actionButton("×", async () => showCart(await call("DELETE", `/cart/cart_items/${item.id}`)), {
        class: "icon-button",
        "aria-label": `Take ${itemLabel(item)} out`,
      }),
  )
}

/** Counts down to the deadline the service named. At the end it waits to be told. */
const countdown = (order, life) => {
  const clock = h("strong", { class: "clock", role: "timer" })
  const line = h("p", { class: "hold" }, "Held for you ", clock)
  const deadline = Date.parse(order.expires_at)
  let timer = 0
  const tick = () => {
    const left = deadline - serverNow()
    fill(clock, remaining(left))
    line.classList.toggle("soon", left < 60_000)
    if (left > 0) timer = setTimeout(tick, left % 1000 || 1000)
  }
  tick()
  life.keep(() => clearTimeout(timer))
  return line
}

/** What has come of a payment that was too little. */
const paidLine = ({ remaining_due_in_cents: due, total_in_cents: total }) =>
  due > 0 &&
  due < total &&
  h("p", { class: "total" }, `${dollars(total - due)} paid, still to pay `, h("strong", {}, dollars(due)))

/** Where nothing is left to pay: what was paid is enough, or nothing was asked for. */
const takeIt = ({ total_in_cents: total }) => actionButton(total > 0 ? "Get it" : "Take it free", takeFree)

/** How many free ids the user has, if they are enough for what the cart still costs. Boxes are not given away. */
const freeFor = ({ order_items: items }) => {
  const free = account.value?.user.remaining_free_emoji ?? 0
  const left = ({ id, unit_price_in_cents: price }) =>
    items.reduce((sum, item) => (item.parent_id === id ? sum + item.unit_price_in_cents : sum), price)
  const costly = items.filter((item) => item.item_type !== "Discount" && left(item) > 0)
  return costly.every(({ item_type }) => item_type === "EmojiId") && costly.length <= free ? free : 0
}

const draftActions = (order) => {
  const free = freeFor(order)
  const due = order.remaining_due_in_cents
  const payButton = takesCards() && actionButton(`Pay ${dollars(due)} by card`, payByCard)
  return [
    paidLine(order),
    due > 0 && !takesCards() && h("p", { class: "soft" }, "Card payments are not configured on this server."),
    h(
      "div",
      { class: "row" },
      due > 0 ? payButton : takeIt(order),
      due > 0 &&
        free > 0 &&
        actionButton(`Take it free (${counted(free, "id")} left)`, takeFree, { class: "plain" }),
      actionButton("Empty the cart", async () => showCart(await call("DELETE", "/cart")), { class: "plain" }),
    ),
  ]
}

const pendingActions = (order) => [
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
    order.remaining_due_in_cents <= 0 && takeIt(order),
    actionButton("Change the cart", async () => showCart(await call("POST", "/cart/convert_to_draft")), {
      class: "plain",
    }),
    actionButton(
      "Give it up",
      async () => {
        await call("DELETE", "/cart")
        await loadCart()
        notify("The order was cancelled.")
      },
      { class: "plain" },
    ),
  ),
]

/** Apart from the cart, so that what is typed outlives a change of it. */
const promoForm = () =>
  h(
    "section",
    { class: "card", hidden: true },
    actionForm(
      {
        label: "Apply",
        plain: true,
        name: "Discount",
        submit: async ({ code }, form) => {
          showCart(await call("POST", "/cart/promo_code", { code: code.trim() }))
          form.reset()
          notify("The code was applied.", "good")
        },
      },
      field("Promo code", { name: "code", maxlength: "64", required: true }),
    ),
  )

const lostView = (lost) =>
  h(
    "section",
    { class: "card expired" },
    empty(
      "⌛",
      "The time to pay is over, and the cart is empty.",
      lost.length > 0 && h("p", { class: "soft" }, lost.map(itemLabel).join(" ")),
      h("div", { class: "row middle" }, actionButton("Put it together again", loadCart)),
    ),
  )

const orderView = (order, life) => {
  if (order.order_items.length === 0)
    return empty("🛒", "The cart is empty.", h("a", { class: "button", href: "#/market" }, "Find an id"))
  const isPending = order.status === "PendingPayment"
  return h(
    "section",
    { class: "card", "aria-label": "Cart" },
    isPending && order.expires_at && countdown(order, life),
    h(
      "ul",
      { class: "cart-items" },
      order.order_items.map((item) => itemRow(order, item)),
    ),
    h("p", { class: "total" }, "Total ", h("strong", {}, dollars(order.total_in_cents))),
    isPending ? pendingActions(order) : draftActions(order),
    !isPending &&
      takesCards() &&
      h("p", { class: "soft small" }, "Promo codes are entered after checking out."),
  )
}

/** What is shown of a cart: while it stays the same, what somebody types there stays too. */
const gist = ({ lost, order }) =>
  JSON.stringify([
    lost?.length,
    order?.status,
    order?.expires_at,
    order?.remaining_due_in_cents,
    order?.payment_method_data?.checkout_url,
    order?.last_payment_error,
    order?.order_items.map((item) => [item.id, item.unit_price_in_cents, item.marked_invalid_at_reason]),
    account.value?.user.remaining_free_emoji,
  ])

export const draw = async (root, life) => {
  const place = h("div", {})
  const history = h("div", {})
  const promo = promoForm()
  root.append(h("h1", {}, "Cart"), place, promo, h("h2", {}, "Orders"), history)
  if (cart.value.order === undefined && cart.value.lost === undefined) await loadCart()
  let readAgain
  const readHistory = coalesced(async () => {
    if (readAgain === undefined) readAgain = await drawPast(history)
    else await readAgain()
  })
  let drawn = new Life()
  let shown = ""
  life.keep(() => drawn.end())
  life.keep(
    cart.watch(({ lost, order }) => {
      readHistory().catch(() => {})
      const next = gist({ lost, order })
      if (next === shown) return
      shown = next
      drawn.end()
      drawn = new Life()
      promo.hidden = order?.status !== "PendingPayment"
      fill(place, lost !== undefined ? lostView(lost) : order !== undefined && orderView(order, drawn))
    }),
  )
  return "Cart"
}
