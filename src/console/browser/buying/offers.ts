import { actionButton } from "../parts/actions.ts"
import { badge, emojiText, h } from "../parts/dom.ts"
import { counted, dollars } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { call } from "../platform/api.ts"
import { cart, showCart } from "../platform/store.ts"
import type { Offer } from "./market-filters.ts"

const availabilityLabels: Readonly<Record<string, readonly [text: string, kind: string]>> = {
  Available: ["Available", "good"],
  Taken: ["Taken", "bad"],
  InCart: ["Held by a buyer", "warn"],
  ComingSoon: ["Coming soon", "warn"],
  NoPrice: ["Not for sale", ""],
}

const addToCart = async (id: string): Promise<void> => {
  showCart(await call("POST /cart", { body: { items: [{ emoji_id: id }] } }))
  notify(`${id} was added to your cart.`, "good")
}

const isInCart = (id: string): boolean =>
  cart.value.order?.order_items.some((item) => item.emoji_id === id) ?? false

const buyButton = (item: Offer, kind = "") => {
  if (isInCart(item.emoji_id))
    return h("a", { class: `button ${kind || "plain"}`, href: "#/cart" }, "In cart")
  if (item.available)
    return actionButton("Add to cart", () => addToCart(item.emoji_id), {
      class: kind,
      // Tiles stay quiet.
      ...(kind === "" ? { sign: "shopping-cart" } : {}),
      "aria-label": `Add to cart: ${item.emoji_id}`,
    })
  if (item.availability === "Taken" || item.availability === "InCart")
    return actionButton(
      "Notify me when available",
      async () => {
        await call("POST /user_interests", { body: { emoji_id: item.emoji_id } })
        notify(`You will be notified when ${item.emoji_id} becomes available.`, "good")
      },
      { class: "plain", sign: "bell", "aria-label": `Notify me when available: ${item.emoji_id}` },
    )
  return false
}

const price = (item: Offer): string => (item.price === undefined ? "—" : dollars(item.price))

/** The id that the user searched for. */
export const resultCard = (item: Offer) => {
  const [text, kind] = availabilityLabels[item.availability] ?? [item.availability, ""]
  return h(
    "section",
    { class: "card offer", "aria-label": `Search result ${item.emoji_id}` },
    h("p", { class: "center" }, emojiText(item.emoji_id, "huge")),
    h(
      "p",
      { class: "center soft" },
      item.short_names.join(" ").replaceAll("_", " "),
      ` · rhythm score ${item.rhythm_score}`,
      item.shape.shape && ` · ${item.shape.shape}`,
    ),
    h("p", { class: "center offer-price" }, price(item), " ", badge(text, kind)),
    h(
      "div",
      { class: "row middle" },
      buyButton(item),
      item.availability === "Taken" &&
        h("a", { href: `#/lookup/${encodeURIComponent(item.emoji_id)}` }, "Show records"),
    ),
  )
}

export const tile = (item: Offer) =>
  h(
    "li",
    { class: "card tile-card" },
    h(
      "a",
      { class: "tile-id", href: `#/market/${encodeURIComponent(item.emoji_id)}` },
      emojiText(item.emoji_id),
    ),
    h("p", {}, h("strong", {}, price(item))),
    h("p", { class: "small soft" }, `${counted(item.length, "emoji", "emoji")} · score ${item.rhythm_score}`),
    buyButton(item, "tile-action"),
  )
