import type { PublicLootBox } from "../../client/api-types.ts"
import type { View } from "./main.ts"
import { actionButton } from "./parts/actions.ts"
import { badge, cut, emojiText, empty, fill, h, keyed } from "./parts/dom.ts"
import { counted, dollars, when } from "./parts/format.ts"
import { notify } from "./parts/notices.ts"
import { call } from "./platform/api.ts"
import { boxes, cart, loadBoxes, showCart } from "./platform/store.ts"

const calm = matchMedia("(prefers-reduced-motion: reduce)")

/**
 * Shows a dialog with the ids of an opened lootbox, one after the other, or all together if the user prefers reduced
 * motion.
 */
const reveal = (ids: ReadonlyArray<string>): void => {
  const dialog: HTMLDialogElement = h(
    "dialog",
    { class: "card reveal", "aria-labelledby": "reveal-title" },
    h("h2", { id: "reveal-title", class: "center" }, "Your new ids"),
    h("p", { class: "emoji huge center lid", "aria-hidden": "true" }, "🎁"),
    h(
      "ul",
      { class: "prizes" },
      ids.map((id, i) =>
        h(
          "li",
          { class: `prize prize-${Math.min(i, 12)}` },
          h(
            "a",
            { class: "tile-id", href: `#/lookup/${encodeURIComponent(id)}`, onclick: () => dialog.close() },
            emojiText(id),
          ),
        ),
      ),
    ),
    h("form", { method: "dialog", class: "row middle" }, h("button", { autofocus: true }, "Close")),
  )
  if (!calm.matches) dialog.classList.add("moving")
  dialog.addEventListener("close", () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

const facts = (box: PublicLootBox) =>
  h(
    "p",
    { class: "small soft" },
    `${counted(box.scores.length, "id")} · average score ${Math.round(box.average_rhythm_score)}`,
  )

const name = (box: PublicLootBox): string => box.lootbox_type?.name ?? "Lootbox"

const ownCard = (box: PublicLootBox) =>
  h(
    "li",
    { class: "card box" },
    h("span", { class: "emoji box-sign", "aria-hidden": "true" }, box.status === "Used" ? "📭" : "🎁"),
    h(
      "h3",
      {},
      name(box),
      " ",
      badge(box.status === "Used" ? "Opened" : "Unopened", box.status === "Used" ? "" : "good"),
    ),
    box.yats.length > 0 ? box.yats.map((id) => h("p", { class: "emoji-line" }, id)) : facts(box),
    box.status === "Owned"
      ? actionButton("Open", async () => {
          const opened = await call("POST /lootboxes/{id}/open", { params: { id: box.id } })
          void loadBoxes()
          reveal(opened.yats)
        })
      : h("p", { class: "small soft" }, when(box.opened_at)),
  )

const saleCard = (box: PublicLootBox) => {
  const inCart = cart.value.order?.order_items.some((item) => item.main_id === box.id)
  return h(
    "li",
    { class: "card box" },
    h("span", { class: "emoji box-sign", "aria-hidden": "true" }, "🎁"),
    h("h3", {}, name(box)),
    facts(box),
    h("p", {}, h("strong", {}, dollars(box.total_value))),
    inCart
      ? h("a", { class: "button plain", href: "#/cart" }, "In cart")
      : actionButton("Add to cart", async () => {
          showCart(await call("POST /cart", { body: { items: [{ lootbox_id: box.id }] } }))
          notify("The lootbox was added to your cart.", "good")
        }),
  )
}

export const draw: View["draw"] = (root, lifetime) => {
  const mine = h("div", {})
  const onSale = h("div", {})
  root.append(h("h1", {}, "Lootboxes"), h("h2", {}, "Yours"), mine, h("h2", {}, "For sale"), onSale)
  const lists = { mine: h("ul", { class: "tiles" }), onSale: h("ul", { class: "tiles" }) }
  const drawAll = () => {
    const { value } = boxes
    if (value === undefined) return
    const { mine: own, onSale: offered } = value
    keyed(lists.mine, own.data, { key: ({ id }) => id, version: ({ status }) => status, render: ownCard })
    keyed(lists.onSale, offered.data, {
      key: ({ id }) => id,
      version: ({ id }) => String(cart.value.order?.order_items.some((item) => item.main_id === id)),
      render: saleCard,
    })
    const show = (
      place: Element,
      { data, paging }: typeof own,
      list: HTMLElement,
      nothing: HTMLElement,
    ): void => fill(place, data.length === 0 ? nothing : [list, cut(data, paging.total)])
    show(mine, own, lists.mine, empty("🎁", "You have no lootboxes."))
    show(onSale, offered, lists.onSale, empty("🌾", "No lootboxes are for sale."))
  }
  lifetime.onEnd(boxes.watch(drawAll))
  lifetime.onEnd(cart.watch(drawAll))
  void loadBoxes()
  return "Lootboxes"
}
