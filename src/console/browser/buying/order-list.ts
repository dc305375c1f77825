import type { DisplayOrder } from "../../../client/api-types.ts"
import { badge, emojiLine, fill, h, keyed } from "../parts/dom.ts"
import { dollars, when } from "../parts/format.ts"
import { icon } from "../parts/icon.ts"
import { drawPaged } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { goodsOf, itemLabel } from "./items.ts"

const statusBadges = {
  Paid: ["Paid", "good"],
  Cancelled: ["Cancelled", ""],
  PendingPayment: ["Awaiting payment", "warn"],
  Draft: ["In cart", ""],
} as const

export const statusBadge = ({ status }: DisplayOrder) => {
  const [text, kind] = statusBadges[status]
  return badge(text, kind)
}

const maxShown = 6

const orderRow = (order: DisplayOrder) => {
  const goods = goodsOf(order)
  const names = goods
    .slice(0, maxShown)
    .map((item) => (item.item_type === "EmojiId" ? itemLabel(item) : "🎁"))
  return h(
    "li",
    { class: "order" },
    h(
      "a",
      { class: "order-link", href: `#/orders/${order.id}` },
      h(
        "span",
        { class: "order-ids" },
        emojiLine(names),
        goods.length > maxShown && h("span", { class: "soft small" }, ` and ${goods.length - maxShown} more`),
      ),
      h("strong", { class: "order-total" }, dollars(order.total_in_cents), icon("chevron-right")),
      h(
        "span",
        { class: "order-facts small" },
        statusBadge(order),
        h("span", { class: "soft" }, when(order.paid_at ?? order.created_at)),
        h("span", { class: "soft" }, `No. ${order.order_number}`),
        order.amount_overpaid_in_cents > 0 &&
          h("span", { class: "warn" }, `${dollars(order.amount_overpaid_in_cents)} overpaid`),
      ),
    ),
  )
}

/** Draws the orders of the user, newest first. Drafts and orders without items are left out. */
export const drawOrderHistory = (place: Element): Promise<() => Promise<void>> => {
  const list = h("ul", { class: "orders plain-list" })
  return drawPaged(
    place,
    (cursor) => call("GET /orders", { query: { limit: 20, ...cursor } }),
    (orders) => {
      const past = orders.filter(({ order_items, status }) => status !== "Draft" && order_items.length > 0)
      if (past.length === 0) fill(list, h("li", { class: "soft" }, "No orders yet."))
      else {
        if (!list.firstElementChild?.hasAttribute("data-key")) fill(list)
        keyed(list, past, {
          key: ({ id }) => id,
          version: ({ status, updated_at }) => `${status} ${updated_at}`,
          render: orderRow,
        })
      }
      return list
    },
  )
}
