import { actionButton, actionForm, confirmButton } from "../parts/actions.js"
import { badge, choice, emojiLine, empty, field, fill, h } from "../parts/dom.js"
import { dollars, when, words } from "../parts/format.js"
import { notify } from "../parts/notices.js"
import { drawPaged, table } from "../parts/subnav.js"
import { call, get } from "../platform/api.js"
import { explain } from "../platform/http.js"

const kinds = { Paid: "good", PendingPayment: "warn", Cancelled: "", Draft: "" }

/** Why a refund did not release an id or a lootbox. */
const reasons = {
  partially_refunded: "only a part of the price was refunded",
  not_owned: "the buyer no longer owns it",
  minted: "it is minted",
  mint_permitted: "it can still be minted",
  in_transfer: "it is in a transfer",
  opened: "it was opened",
}

const contents = (order) =>
  order.order_items
    .filter(({ item_type }) => item_type !== "Discount")
    .map((item) => (item.item_type === "EmojiId" ? item.emoji_id : "🎁"))

const buyer = ({ user }) => user.email ?? user.alternate_id ?? ""

const paymentForm = (order, again) =>
  h(
    "details",
    {},
    h("summary", {}, "Record a payment"),
    actionForm(
      {
        label: "Record payment",
        plain: true,
        submit: async ({ amount, external_reference }) => {
          const booking = { amount: Math.round(Number(amount) * 100), external_reference }
          // The request has no Idempotency-Key, because another tab would send a different one. The reference
          // identifies the payment, so a repeated payment is recorded once.
          await call("POST", `/orders/${order.id}/payment_override`, booking, { hasKey: false })
          notify("The payment was recorded.", "good")
          await again()
        },
      },
      field("Amount in US dollars", {
        name: "amount",
        type: "number",
        min: "0.01",
        step: "0.01",
        required: true,
      }),
      field("Reference", { name: "external_reference", maxlength: "200", required: true }),
    ),
  )

/** The ids that the refund of the order did not release, with the reason. */
const keptIds = ({ order_items: items }) =>
  items
    .filter((item) => item.not_released_reason !== undefined && item.not_released_reason !== "requested")
    .map((item) => `${item.emoji_id ?? "Lootbox"}: ${reasons[item.not_released_reason]}`)

const refundButton = (order, again, { consequence, keeps, label }) =>
  confirmButton(
    label,
    {
      question: `Refund order ${order.order_number}?`,
      consequence: `The full unrefunded amount is paid back to ${buyer(order)}. ${consequence}`,
    },
    async () => {
      const kept = keptIds(await call("POST", `/orders/${order.id}/refund`, { keep_ids: keeps }))
      const done = `Order ${order.order_number} is being refunded.`
      notify(kept.length === 0 ? done : `${done} Not released: ${kept.join(", ")}.`, "good")
      await again()
    },
    { class: "plain small" },
  )

/** Only a paid order has ids to release. A refund of another order only returns money. */
const refundButtons = (order, again) =>
  order.status === "Paid"
    ? [
        refundButton(order, again, {
          label: "Refund",
          keeps: false,
          consequence: "The buyer loses the ids and unopened lootboxes, and others can buy the ids.",
        }),
        refundButton(order, again, {
          label: "Refund, keep ids",
          keeps: true,
          consequence: "The buyer keeps the ids.",
        }),
      ]
    : [refundButton(order, again, { label: "Refund", keeps: true, consequence: "" })]

const actions = (order, again) =>
  h(
    "div",
    { class: "cell-actions" },
    order.allowed_actions.includes("refund") && refundButtons(order, again),
    order.status === "Paid" &&
      actionButton(
        "Resend receipt",
        async () => {
          await call("POST", `/orders/${order.id}/resend_confirmation`)
          notify("The receipt was sent again.", "good")
        },
        { class: "plain small" },
      ),
    order.status === "PendingPayment" && paymentForm(order, again),
  )

const row = (order, again) => [
  [h("code", {}, order.order_number), h("br"), h("span", { class: "soft small" }, when(order.created_at))],
  h("a", { href: `#/admin/orders/${order.user.id}` }, buyer(order)),
  emojiLine(contents(order)),
  dollars(order.total_in_cents),
  badge(words(order.status), kinds[order.status]),
  actions(order, again),
]

/** Draws all orders, or the orders of the user in the URL. */
export const drawOrders = async (place, _lifetime, [userId]) => {
  const list = h("div", {})
  const filter = { status: "", order_number: "" }
  const load = (cursor) => {
    const query = new URLSearchParams({ limit: "20" })
    if (userId === undefined) query.set("all", "true")
    else query.set("user_id", userId)
    for (const [name, value] of Object.entries(filter)) if (value !== "") query.set(name, value)
    return get(`/orders?${query}${cursor}`)
  }
  const start = () =>
    drawPaged(list, load, (orders, again) =>
      orders.length === 0
        ? empty("🧾", "No orders.")
        : table(
            ["Order", "Buyer", "Ids", "Total", "Status", ""],
            orders.map((order) => row(order, again)),
          ),
    )
  fill(
    place,
    userId !== undefined &&
      h("p", {}, "Orders of one user. ", h("a", { href: "#/admin/orders" }, "Show all orders")),
    h(
      "div",
      { role: "search" },
      actionForm(
        {
          label: "Search",
          plain: true,
          submit: async ({ order_number }) => {
            filter.order_number = order_number.trim()
            await start()
          },
        },
        field(
          "Order number",
          { name: "order_number", type: "search", maxlength: "64" },
          "The receipt contains the order number.",
        ),
      ),
    ),
    choice("Show", "status", [["", "All orders"], ...Object.keys(kinds).map((name) => [name, words(name)])], {
      onchange: ({ target }) => {
        filter.status = target.value
        start().catch((error) => notify(explain(error), "bad"))
      },
    }),
    list,
  )
  await start()
}
