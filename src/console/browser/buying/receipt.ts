import type { DisplayOrder } from "../../../client/api-types.ts"
import { h } from "../parts/dom.ts"
import { dollars, when } from "../parts/format.ts"
import { itemList, sums } from "./items.ts"
import { orderView, paymentName } from "./order.ts"

const buyerOf = ({ user }: DisplayOrder): string => {
  const name = [user.first_name, user.last_name].filter((part) => part).join(" ")
  return [name, user.email ?? user.alternate_id].filter((part) => part).join(", ")
}

/** The receipt of a paid order, made for printing. */
export const receiptView = (order: DisplayOrder) => {
  if (order.status !== "Paid") return orderView(order)
  const refunded = order.refunded_total_in_cents + order.misc_refunded_total_in_cents
  return h(
    "article",
    { class: "receipt" },
    h("p", { class: "back no-print" }, h("a", { href: `#/orders/${order.id}` }, "← Order")),
    h(
      "header",
      { class: "spread" },
      h("h1", {}, "Receipt"),
      h("button", { type: "button", class: "no-print", onclick: () => print() }, "Print or save as PDF"),
    ),
    h(
      "dl",
      { class: "particulars" },
      [
        ["Seller", "Emoji Id Directory"],
        ["Buyer", buyerOf(order)],
        ["Order number", order.order_number],
        ["Paid on", when(order.paid_at)],
        ["Paid with", paymentName(order)],
      ].map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    ),
    itemList(order),
    sums(order),
    refunded > 0 && h("p", { class: "total" }, "Refunded ", h("strong", {}, dollars(refunded))),
  )
}
