import type { View } from "./main.ts"
import { actionButton } from "./parts/actions.ts"
import { badge, emojiText, empty, fill, h } from "./parts/dom.ts"
import { dollars } from "./parts/format.ts"
import { notify } from "./parts/notices.ts"
import { idForm } from "./parts/picker.ts"
import { loadInto } from "./parts/retry.ts"
import { call } from "./platform/api.ts"
import { subscribe } from "./platform/live.ts"
import type { Answer } from "./platform/request.ts"
import { cart, showCart } from "./platform/store.ts"

type Search = Answer<"GET /emoji_id/search">
type Offer = Search["alternates"][number]

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
  if (isInCart(item.emoji_id)) return h("a", { class: "button plain", href: "#/cart" }, "In cart")
  if (item.available)
    return actionButton("Add to cart", () => addToCart(item.emoji_id), {
      class: kind,
      "aria-label": `Add to cart: ${item.emoji_id}`,
    })
  if (item.availability === "Taken" || item.availability === "InCart")
    return actionButton(
      "Notify me when available",
      async () => {
        await call("POST /user_interests", { body: { emoji_id: item.emoji_id } })
        notify(`You will be notified when ${item.emoji_id} becomes available.`, "good")
      },
      { class: "plain", "aria-label": `Notify me when available: ${item.emoji_id}` },
    )
  return false
}

const price = (item: Offer): string => (item.price === undefined ? "—" : dollars(item.price))

const resultCard = (item: Offer) => {
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

const tile = (item: Offer) =>
  h(
    "li",
    { class: "card tile-card" },
    h(
      "a",
      { class: "tile-id", href: `#/market/${encodeURIComponent(item.emoji_id)}` },
      emojiText(item.emoji_id),
    ),
    h(
      "p",
      { class: "small" },
      h("strong", {}, price(item)),
      h("span", { class: "soft" }, ` · score ${item.rhythm_score}`),
    ),
    buyButton(item, "plain"),
  )

export const draw: View["draw"] = async (root, lifetime, [requested = ""]) => {
  const results = h("div", { "aria-live": "polite" })
  const form = idForm({
    label: "Search for an emoji id",
    button: "Search",
    value: requested,
    view: "market",
  })
  root.append(h("h1", {}, "Find an id to buy"), form, results)

  let found: { readonly result?: Offer; readonly others: ReadonlyArray<Offer> } | undefined
  const drawFound = () => {
    if (found === undefined) return
    fill(
      results,
      found.result && resultCard(found.result),
      h("h2", {}, found.result ? "Similar ids" : "Suggestions"),
      found.others.length === 0
        ? empty("🔭", "No suggestions.")
        : h("ul", { class: "tiles" }, found.others.map(tile)),
    )
  }
  const load = async () => {
    if (requested === "") {
      const { result } = await call("GET /emoji_id/random", { query: { limit: 12 } })
      found = { others: result }
    } else {
      const { alternates, result } = await call("GET /emoji_id/search", {
        query: { emoji_id: requested },
      })
      found = { result, others: alternates }
    }
    drawFound()
  }
  await loadInto(results, lifetime, load)
  lifetime.onEnd(cart.watch(drawFound))
  const concerns = (data: unknown): boolean => {
    const { emoji_id: id } = data as { readonly emoji_id: string }
    return found?.result?.emoji_id === id || found?.others.some((item) => item.emoji_id === id) === true
  }
  lifetime.onEnd(
    subscribe("market", {
      onEvent: (_, data) => {
        if (requested !== "" && concerns(data)) load().catch(() => {})
      },
    }),
  )
  return requested === "" ? "Market" : `Market: ${requested}`
}
