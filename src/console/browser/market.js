import { actionButton } from "./parts/actions.js"
import { badge, emojiText, empty, fill, h } from "./parts/dom.js"
import { dollars } from "./parts/format.js"
import { notify } from "./parts/notices.js"
import { idForm } from "./parts/picker.js"
import { call, get } from "./platform/api.js"
import { explain } from "./platform/http.js"
import { subscribe } from "./platform/live.js"
import { cart, showCart } from "./platform/store.js"

const availabilityLabels = {
  Available: ["Available", "good"],
  Taken: ["Taken", "bad"],
  InCart: ["Held by a buyer", "warn"],
  ComingSoon: ["Coming soon", "warn"],
  NoPrice: ["Not for sale", ""],
}

const addToCart = async (id) => {
  showCart(await call("POST", "/cart", { items: [{ emoji_id: id }] }))
  notify(`${id} was added to your cart.`, "good")
}

const isInCart = (id) => cart.value.order?.order_items.some((item) => item.emoji_id === id) ?? false

const buyButton = (item, kind = "") => {
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
        await call("POST", "/user_interests", { emoji_id: item.emoji_id })
        notify(`You will be notified when ${item.emoji_id} becomes available.`, "good")
      },
      { class: "plain", "aria-label": `Notify me when available: ${item.emoji_id}` },
    )
  return false
}

const price = (item) => (item.price === undefined ? "—" : dollars(item.price))

const resultCard = (item) => {
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

const tile = (item) =>
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

export const draw = async (root, lifetime, [requested = ""]) => {
  const results = h("div", { "aria-live": "polite" })
  const { form } = idForm({
    label: "Search for an emoji id",
    button: "Search",
    value: requested,
    view: "market",
  })
  root.append(h("h1", {}, "Find an id to buy"), form, results)

  let found
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
      const { result } = await get("/emoji_id/random?limit=12")
      found = { others: result }
    } else {
      const { alternates, result } = await get(`/emoji_id/search?emoji_id=${encodeURIComponent(requested)}`)
      found = { result, others: alternates }
    }
    drawFound()
  }
  try {
    await load()
  } catch (error) {
    fill(results, h("p", { class: "bad", role: "alert" }, explain(error)))
  }
  lifetime.onEnd(cart.watch(drawFound))
  const concerns = (id) =>
    found?.result?.emoji_id === id || found?.others.some((item) => item.emoji_id === id)
  lifetime.onEnd(
    subscribe("market", {
      onEvent: (_, { emoji_id }) => {
        if (requested !== "" && concerns(emoji_id)) load().catch(() => {})
      },
    }),
  )
  return requested === "" ? "Market" : `Market: ${requested}`
}
