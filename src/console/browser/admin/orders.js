import { actionButton, actionForm, finalButton } from "../parts/actions.js"
import { badge, choice, emojiLine, empty, field, fill, h } from "../parts/dom.js"
import { dollars, when, words } from "../parts/format.js"
import { notify } from "../parts/notices.js"
import { drawPaged, table } from "../parts/subnav.js"
import { call, get } from "../platform/api.js"
import { explain } from "../platform/http.js"

const kinds = { Paid: "good", PendingPayment: "warn", Cancelled: "", Draft: "" }

const contents = (order) =>
  order.order_items
    .filter(({ item_type }) => item_type !== "Discount")
    .map((item) => (item.item_type === "EmojiId" ? item.emoji_id : "🎁"))

const buyer = ({ user }) => user.email ?? user.alternate_id ?? ""

const moneyForm = (order, again) =>
  h(
    "details",
    {},
    h("summary", {}, "Book a payment"),
    actionForm(
      {
        label: "Book it",
        plain: true,
        submit: async ({ amount, external_reference }) => {
          const booking = { amount: Math.round(Number(amount) * 100), external_reference }
          // Known by its reference, whoever books it: with a key it would be another one in another tab.
          await call("POST", `/orders/${order.id}/payment_override`, booking, { hasKey: false })
          notify("The payment was booked.", "good")
          await again()
        },
      },
      field("Dollars", { name: "amount", type: "number", min: "0.01", step: "0.01", required: true }),
      field("Reference", { name: "external_reference", maxlength: "200", required: true }),
    ),
  )

const actions = (order, again) =>
  h(
    "div",
    { class: "cell-actions" },
    order.allowed_actions.includes("refund") &&
      finalButton(
        "Refund",
        {
          question: `Refund order ${order.order_number}?`,
          consequence: `All that was paid and not given back yet goes to ${buyer(order)}. What they bought stays theirs.`,
        },
        async () => {
          await call("POST", `/orders/${order.id}/refund`, {})
          notify(`Order ${order.order_number} is being refunded.`, "good")
          await again()
        },
        { class: "plain small" },
      ),
    order.status === "Paid" &&
      actionButton(
        "Receipt",
        async () => {
          await call("POST", `/orders/${order.id}/resend_confirmation`)
          notify("The receipt was mailed again.", "good")
        },
        { class: "plain small" },
      ),
    order.status === "PendingPayment" && moneyForm(order, again),
  )

const row = (order, again) => [
  [h("code", {}, order.order_number), h("br"), h("span", { class: "soft small" }, when(order.created_at))],
  h("a", { href: `#/admin/orders/${order.user.id}` }, buyer(order)),
  emojiLine(contents(order)),
  dollars(order.total_in_cents),
  badge(words(order.status), kinds[order.status]),
  actions(order, again),
]

/** All of them, or those of the user the address names. */
export const drawOrders = async (place, _life, [userId]) => {
  const list = h("div", {})
  const asked = { status: "", order_number: "" }
  const load = (page) => {
    const query = new URLSearchParams({ limit: "20", page: String(page) })
    if (userId === undefined) query.set("all", "true")
    else query.set("user_id", userId)
    for (const [name, value] of Object.entries(asked)) if (value !== "") query.set(name, value)
    return get(`/orders?${query}`)
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
      h("p", {}, "The orders of one user. ", h("a", { href: "#/admin/orders" }, "Show those of all")),
    h(
      "div",
      { role: "search" },
      actionForm(
        {
          label: "Find",
          plain: true,
          submit: async ({ order_number }) => {
            asked.order_number = order_number.trim()
            await start()
          },
        },
        field(
          "Order number",
          { name: "order_number", type: "search", maxlength: "64" },
          "As the receipt names it.",
        ),
      ),
    ),
    choice("Show", "status", [["", "all orders"], ...Object.keys(kinds).map((name) => [name, words(name)])], {
      onchange: ({ target }) => {
        asked.status = target.value
        start().catch((error) => notify(explain(error), "bad"))
      },
    }),
    list,
  )
  await start()
}
