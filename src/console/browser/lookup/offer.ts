import { actionButton } from "../parts/actions.ts"
import { badge, fill, h } from "../parts/dom.ts"
import { dollars } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { loadInto } from "../parts/retry.ts"
import type { Lifetime } from "../parts/signal.ts"
import { call } from "../platform/api.ts"
import { account } from "../platform/session.ts"
import { cart, showCart } from "../platform/store.ts"

const marketLink = (id: string, text: string, kind = "") =>
  h("a", { class: `button ${kind}`, href: `#/market/${encodeURIComponent(id)}` }, text)

const unavailable: Readonly<Record<string, string>> = {
  InCart: "Another buyer has this id in the cart. It may become available again.",
  ComingSoon: "This id is not for sale yet.",
  NoPrice: "This id is not for sale.",
}

const isInCart = (id: string): boolean =>
  cart.value.order?.order_items.some((item) => item.emoji_id === id) ?? false

const buyButton = (id: string) =>
  isInCart(id)
    ? h("a", { class: "button", href: "#/cart" }, "Go to cart")
    : actionButton(
        "Add to cart",
        async () => {
          showCart(await call("POST /cart", { body: { items: [{ emoji_id: id }] } }))
          notify(`${id} was added to your cart.`, "good")
        },
        { sign: "shopping-cart" },
      )

/** Shows how to buy an id that is not registered. The price is shown only to signed-in users. */
export const drawOffer = (place: Element, id: string, lifetime: Lifetime): void => {
  if (account.value === undefined) {
    fill(
      place,
      h("p", { class: "center" }, "Nobody has this id yet. Sign in to see its price and to buy it."),
      h("p", { class: "center" }, marketLink(id, "Sign in to see the price")),
    )
    return
  }
  loadInto(place, lifetime, async () => {
    const { result } = await call("GET /emoji_id/search", { query: { emoji_id: id } })
    const { availability, available, emoji_id, price } = result
    lifetime.onEnd(
      cart.watch(() =>
        available || isInCart(emoji_id)
          ? fill(
              place,
              h(
                "p",
                { class: "center offer-price" },
                price === undefined ? "" : `${dollars(price)} `,
                badge("Available", "good"),
              ),
              h("div", { class: "row middle" }, buyButton(emoji_id), marketLink(id, "Similar ids", "plain")),
            )
          : fill(
              place,
              h("p", { class: "center" }, unavailable[availability] ?? "This id cannot be bought now."),
              h("div", { class: "row middle" }, marketLink(id, "Similar ids", "plain")),
            ),
      ),
    )
  })
}
