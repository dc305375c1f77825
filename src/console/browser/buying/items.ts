import type { DisplayOrder } from "../../../client/api-types.ts"
import { badge, type Child, emojiText, h } from "../parts/dom.ts"
import { dollars } from "../parts/format.ts"
import type { CartItem } from "../platform/store.ts"

const invalidLabels: Readonly<Record<string, string>> = {
  Taken: "No longer available",
  PendingPurchase: "Held by another buyer",
}

const isDiscount = (item: CartItem): boolean => item.item_type === "Discount"

/** The items of an order without its discounts, which are items of their own. */
export const goodsOf = ({ order_items: items }: DisplayOrder): ReadonlyArray<CartItem> =>
  items.filter((item) => !isDiscount(item))

export const idsOf = (order: DisplayOrder): ReadonlyArray<string> =>
  order.order_items.flatMap(({ emoji_id: id, item_type }) =>
    item_type === "EmojiId" && id !== undefined ? [id] : [],
  )

export const itemLabel = ({ emoji_id: id, item_type: type }: CartItem): string =>
  type === "EmojiId" ? (id ?? "") : "Lootbox"

const itemRow = (item: CartItem, besidePrice: Child) => {
  const reason = item.marked_invalid_at_reason
  return h(
    "li",
    { class: "cart-item" },
    h(
      "span",
      { class: "cart-what" },
      item.item_type === "EmojiId"
        ? emojiText(itemLabel(item))
        : [h("span", { class: "emoji", "aria-hidden": "true" }, "🎁"), itemLabel(item)],
      item.rhythm_score !== undefined &&
        h("span", { class: "soft small" }, `Rhythm score ${item.rhythm_score}`),
      reason !== undefined && badge(invalidLabels[reason] ?? reason, "bad"),
      item.released_at !== undefined && badge("Returned"),
    ),
    h("span", { class: "cart-price" }, dollars(item.unit_price_in_cents)),
    besidePrice,
  )
}

/** The items of an order with their prices. `besidePrice` adds a control to an item. */
export const itemList = (order: DisplayOrder, besidePrice: (item: CartItem) => Child = () => false) =>
  h(
    "ul",
    { class: "cart-items" },
    goodsOf(order).map((item) => itemRow(item, besidePrice(item))),
  )

const sumLine = (label: string, cents: number, kind = "") =>
  h("div", { class: `sum ${kind}` }, h("dt", {}, label), h("dd", {}, dollars(cents)))

/** The price of the items, the discount and the total. Without a discount only the total. */
export const sums = (order: DisplayOrder) => {
  const discount = order.order_items
    .filter(isDiscount)
    .reduce((sum, item) => sum + item.unit_price_in_cents, 0)
  return h(
    "dl",
    { class: "sums" },
    discount !== 0 && [
      sumLine("Subtotal", order.total_in_cents - discount),
      sumLine("Discount", discount, "good"),
    ],
    sumLine("Total", order.total_in_cents, "grand"),
  )
}

/** Shows the paid and the remaining amount after a partial payment. */
export const paidLine = ({ remaining_due_in_cents: due, total_in_cents: total }: DisplayOrder) =>
  due > 0 &&
  due < total &&
  h(
    "p",
    { class: "notice" },
    `${dollars(total - due)} paid, remaining amount `,
    h("strong", {}, dollars(due)),
  )
