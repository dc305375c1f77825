import type { DisplayOrder } from "../../../client/api-types.ts"
import { type Child, h } from "../parts/dom.ts"
import { dollars, when } from "../parts/format.ts"
import { methodNames } from "./checkout.ts"
import { goodsOf, idsOf, itemList, paidLine, sums } from "./items.ts"
import { newIds, success } from "./next-steps.ts"
import { statusBadge } from "./order-list.ts"

/** How an order was paid. Without a payment provider, it was free or was booked by an administrator. */
export const paymentName = ({ payment_method_data: payment, total_in_cents: total }: DisplayOrder): string =>
  payment !== undefined
    ? methodNames[payment.method]
    : total > 0
      ? "Free ids or a booked payment"
      : "No payment needed"

const fact = (name: string, value: Child) => value && [h("dt", {}, name), h("dd", {}, value)]

const amount = (cents: number) => cents > 0 && dollars(cents)

const facts = (order: DisplayOrder) =>
  h(
    "dl",
    { class: "particulars" },
    fact("State", statusBadge(order)),
    fact("Order number", order.order_number),
    fact("Created", when(order.created_at)),
    fact("Paid", when(order.paid_at)),
    fact(
      "Payment",
      order.status === "Paid" || order.status === "PendingPayment" ? paymentName(order) : false,
    ),
    fact("Refunded", amount(order.refunded_total_in_cents + order.misc_refunded_total_in_cents)),
    fact("Overpaid", amount(order.amount_overpaid_in_cents)),
    fact("Payment problem", order.status === "PendingPayment" && order.last_payment_error),
  )

const receiptLink = (order: DisplayOrder, kind = "plain") =>
  h("a", { class: `button ${kind}`, href: `#/orders/${order.id}/receipt` }, "Receipt")

const actions: Readonly<Record<DisplayOrder["status"], (order: DisplayOrder) => Child>> = {
  Draft: () => h("a", { class: "button", href: "#/cart" }, "Go to cart"),
  PendingPayment: () => h("a", { class: "button", href: "#/cart" }, "Continue to payment"),
  Paid: (order) => [h("a", { class: "button", href: "#/ids" }, "Go to My ids"), receiptLink(order)],
  Cancelled: () => h("a", { class: "button", href: "#/market" }, "Find an id"),
}

const stillOwned = (order: DisplayOrder): ReadonlyArray<string> => {
  const returned = new Set(goodsOf(order).flatMap((item) => (item.released_at ? [item.emoji_id] : [])))
  return idsOf(order).filter((id) => !returned.has(id))
}

const hasBox = (order: DisplayOrder): boolean =>
  goodsOf(order).some(({ item_type }) => item_type === "LootBox")

/** An order with its state, items and payment. */
export const orderView = (order: DisplayOrder) => [
  h("p", { class: "back" }, h("a", { href: "#/orders" }, "← Orders")),
  h("h1", {}, `Order ${order.order_number}`),
  h("section", { class: "card", "aria-label": "Items" }, itemList(order), sums(order), paidLine(order)),
  facts(order),
  h("div", { class: "row" }, actions[order.status](order)),
]

/** Shown while the payment provider has not reported the payment. The page is drawn again when it has. */
const waitingView = (order: DisplayOrder) => [
  h("h1", {}, "Waiting for your payment"),
  h(
    "p",
    { role: "status" },
    "The payment provider has not confirmed the payment yet. This page changes when it does. You can close it: we also send you an email.",
  ),
  h("section", { class: "card", "aria-label": "Items" }, itemList(order), sums(order), paidLine(order)),
  h("div", { class: "row" }, h("a", { class: "button plain", href: "#/cart" }, "Back to checkout")),
]

/** The page after a payment: what the user has now, and what to do next. */
export const paidView = (order: DisplayOrder) => {
  if (order.status === "PendingPayment") return waitingView(order)
  if (order.status !== "Paid") return orderView(order)
  return success(
    "Thank you. Your order is complete.",
    h("p", { class: "soft" }, `Order ${order.order_number} · ${dollars(order.total_in_cents)}`),
    newIds(stillOwned(order)),
    hasBox(order) &&
      h(
        "p",
        { class: "new-id" },
        h("span", {}, "🎁 Your lootbox is ready."),
        h("a", { class: "button small", href: "#/boxes" }, "Open it"),
      ),
    h(
      "div",
      { class: "row middle" },
      receiptLink(order),
      h("a", { href: `#/orders/${order.id}` }, "Order details"),
    ),
  )
}
