import type { PublicLootBox } from "../../../client/api-types.ts"
import type { View } from "../main.ts"
import { actionButton } from "../parts/actions.ts"
import { badge, cut, emojiText, empty, fill, h, keyed } from "../parts/dom.ts"
import { counted, dollars, when } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { failure } from "../parts/retry.ts"
import { call } from "../platform/api.ts"
import { boxes, boxesFailure, cart, loadBoxes, showCart } from "../platform/store.ts"
import { lookupHash, recordsHash } from "./next-steps.ts"

const calm = matchMedia("(prefers-reduced-motion: reduce)")

const prize = (id: string, i: number, close: () => void) =>
  h(
    "li",
    { class: `prize prize-${Math.min(i, 12)}` },
    h("a", { class: "tile-id", href: lookupHash(id), onclick: close }, emojiText(id)),
  )

/**
 * Shows a dialog with the ids of an opened lootbox, one after the other, or all together if the user prefers reduced
 * motion.
 */
const reveal = (ids: ReadonlyArray<string>): void => {
  const close = (): void => dialog.close()
  const [only] = ids.length === 1 ? ids : []
  const dialog: HTMLDialogElement = h(
    "dialog",
    { class: "card reveal", "aria-labelledby": "reveal-title" },
    h("h2", { id: "reveal-title", class: "center" }, ids.length === 1 ? "Your new id" : "Your new ids"),
    h("p", { class: "emoji huge center lid", "aria-hidden": "true" }, "🎁"),
    h(
      "ul",
      { class: "prizes" },
      ids.map((id, i) => prize(id, i, close)),
    ),
    h(
      "p",
      { class: "center soft small" },
      ids.length === 1
        ? "It is yours now. Add records so that it leads somewhere."
        : "They are yours now. Add records in My ids, so that they lead somewhere.",
    ),
    h(
      "form",
      { method: "dialog", class: "row middle" },
      h(
        "a",
        {
          class: "button",
          href: only === undefined ? "#/ids" : recordsHash(only),
          onclick: close,
          autofocus: true,
        },
        only === undefined ? "Go to My ids" : "Add records",
      ),
      only !== undefined && h("a", { class: "button plain", href: lookupHash(only), onclick: close }, "View"),
      h("button", { class: "plain" }, "Close"),
    ),
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

const sign = (text: string) => h("span", { class: "emoji box-sign", "aria-hidden": "true" }, text)

const openedIds = ({ opened_at, yats }: PublicLootBox) => [
  yats.map((id) => h("a", { class: "emoji-line tile-id", href: lookupHash(id) }, id)),
  h("p", { class: "small soft" }, when(opened_at)),
]

const openBox = async ({ id }: PublicLootBox): Promise<void> => {
  const opened = await call("POST /lootboxes/{id}/open", { params: { id } })
  void loadBoxes()
  reveal(opened.yats)
}

const ownCard = (box: PublicLootBox) => {
  const isOpened = box.status === "Used"
  return h(
    "li",
    { class: "card box" },
    sign(isOpened ? "📭" : "🎁"),
    h("h3", {}, name(box), " ", badge(isOpened ? "Opened" : "Unopened", isOpened ? "" : "good")),
    isOpened ? openedIds(box) : facts(box),
    box.status === "Owned" && actionButton("Open", () => openBox(box), { sign: "package-open" }),
  )
}

const saleCard = (box: PublicLootBox) => {
  const inCart = cart.value.order?.order_items.some((item) => item.main_id === box.id)
  return h(
    "li",
    { class: "card box" },
    sign("🎁"),
    h("h3", {}, name(box)),
    facts(box),
    h("p", {}, h("strong", {}, dollars(box.total_value))),
    inCart
      ? h("a", { class: "button tile-action", href: "#/cart" }, "In cart")
      : actionButton(
          "Add to cart",
          async () => {
            showCart(await call("POST /cart", { body: { items: [{ lootbox_id: box.id }] } }))
            notify("The lootbox was added to your cart.", "good")
          },
          { sign: "shopping-cart", class: "tile-action" },
        ),
  )
}

export const draw: View["draw"] = (root, lifetime) => {
  const problem = h("div", {})
  const mine = h("div", {})
  const onSale = h("div", {})
  // Until the lootboxes are loaded, only an error is shown.
  const places = h("div", { hidden: true }, h("h2", {}, "Yours"), mine, h("h2", {}, "For sale"), onSale)
  root.append(
    h("h1", {}, "Lootboxes"),
    h("p", { class: "soft" }, "A lootbox contains ids that you see only when you open it."),
    problem,
    places,
  )
  const lists = { mine: h("ul", { class: "tiles" }), onSale: h("ul", { class: "tiles" }) }
  const drawAll = () => {
    const { value } = boxes
    if (value === undefined) return
    places.hidden = false
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
  lifetime.onEnd(
    boxesFailure.watch((error) => fill(problem, error !== undefined && failure(error, loadBoxes))),
  )
  void loadBoxes()
  return "Lootboxes"
}
