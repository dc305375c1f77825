import type { DisplayOrder } from "../../client/api-types.ts"
import { badge, fill, h, keyed } from "./parts/dom.ts"
import { dollars, when, words } from "./parts/format.ts"
import { drawPaged } from "./parts/subnav.ts"
import { call } from "./platform/api.ts"

const statusKinds = { Paid: "good", Cancelled: "", PendingPayment: "warn", Draft: "" }

const orderRow = (order: DisplayOrder) =>
  h(
    "li",
    { class: "order" },
    h(
      "span",
      { class: "order-ids emoji" },
      order.order_items
        .filter((item) => item.item_type !== "Discount")
        .map((item) => (item.item_type === "EmojiId" ? item.emoji_id : "🎁"))
        .join(" "),
    ),
    h(
      "span",
      { class: "order-facts small" },
      badge(words(order.status), statusKinds[order.status]),
      h("span", {}, dollars(order.total_in_cents)),
      h("span", { class: "soft" }, `No. ${order.order_number}`),
      h("span", { class: "soft" }, when(order.paid_at ?? order.created_at)),
      order.amount_overpaid_in_cents > 0 &&
        h("span", { class: "warn" }, `${dollars(order.amount_overpaid_in_cents)} overpaid`),
    ),
  )

/** Draws the orders of the user, newest first. Drafts and orders without items are left out. */
export const drawOrderHistory = (place: Element): Promise<() => Promise<void>> => {
  const list = h("ul", { class: "orders plain-list" })
  return drawPaged(
    place,
    (cursor) => call("GET /orders", { query: { limit: 20, ...cursor } }),
    (orders) => {
      const past = orders.filter(({ order_items, status }) => status !== "Draft" && order_items.length > 0)
      if (past.length === 0) fill(list, h("li", { class: "soft" }, "No orders yet."))
      else
        keyed(list, past, {
          key: ({ id }) => id,
          version: ({ status, updated_at }) => `${status} ${updated_at}`,
          render: orderRow,
        })
      return list
    },
  )
}
