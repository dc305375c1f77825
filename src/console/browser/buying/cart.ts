import type { DisplayOrder } from "../../../client/api-types.ts"
import type { View } from "../main.ts"
import { actionButton } from "../parts/actions.ts"
import { empty, fill, h } from "../parts/dom.ts"
import { failure } from "../parts/retry.ts"
import { coalesced, Lifetime } from "../parts/signal.ts"
import { call } from "../platform/api.ts"
import { account } from "../platform/session.ts"
import { type CartItem, cart, loadCart, showCart } from "../platform/store.ts"
import { successHash } from "./checkout.ts"
import { draftForm, type Quietly } from "./draft.ts"
import { itemLabel, itemList, paidLine, sums } from "./items.ts"
import { drawOrderHistory } from "./order-list.ts"
import { pendingView, promoForm } from "./pending.ts"

const removeButton = (item: CartItem) =>
  actionButton(
    "×",
    async () =>
      showCart(await call("DELETE /cart/cart_items/{cart_item_id}", { params: { cart_item_id: item.id } })),
    { class: "icon-button", "aria-label": `Remove ${itemLabel(item)} from the cart` },
  )

const draftView = (order: DisplayOrder) =>
  h(
    "section",
    { class: "card", "aria-label": "Cart" },
    itemList(order, removeButton),
    sums(order),
    paidLine(order),
  )

const expiredView = (expired: ReadonlyArray<CartItem>) =>
  h(
    "section",
    { class: "card expired" },
    empty(
      "⌛",
      "Your cart is empty because the time to pay expired.",
      expired.length > 0 && h("p", { class: "soft" }, expired.map(itemLabel).join(" ")),
      h("div", { class: "row middle" }, actionButton("Restore cart", loadCart)),
    ),
  )

const emptyView = () =>
  empty("🛒", "Your cart is empty.", h("a", { class: "button", href: "#/market" }, "Find an id"))

/** Returns a text of everything that the cart view shows. The view is redrawn only when this text changes. */
const shownState = ({ expired, order }: typeof cart.value): string =>
  JSON.stringify([
    expired?.length,
    order?.status,
    order?.expires_at,
    order?.remaining_due_in_cents,
    order?.payment_method_data?.checkout_url,
    order?.last_payment_error,
    order?.order_items.map((item) => [item.id, item.unit_price_in_cents, item.marked_invalid_at_reason]),
    account.value?.user.remaining_free_emoji,
  ])

/** Shows the success page of the order if it was paid while this view showed it, for example on another device. */
const leaveIfPaid = async (id: string, lifetime: Lifetime): Promise<void> => {
  const { status } = await call("GET /orders/{id}", { params: { id } })
  if (status === "Paid" && !lifetime.hasEnded) location.hash = successHash(id)
}

const drawHistory = (place: Element): (() => void) => {
  let again: (() => Promise<void>) | undefined
  const read = coalesced(async () => {
    try {
      if (again === undefined) again = await drawOrderHistory(place)
      else await again()
    } catch (error) {
      again = undefined
      fill(place, failure(error, read))
    }
  })
  return () => void read()
}

export const draw: View["draw"] = async (root, lifetime) => {
  const heading = h("h1", {}, "Cart")
  const place = h("div", {})
  const history = h("div", {})
  const promo = promoForm()
  let isHeld = false
  let drawn = new Lifetime()
  let shown = ""
  let pending: string | undefined
  const readHistory = drawHistory(history)
  const quietly: Quietly = async (task) => {
    isHeld = true
    try {
      await task()
    } finally {
      isHeld = false
      const isNextStep = pending === undefined
      drawCart()
      if (isNextStep && pending !== undefined) heading.focus()
    }
  }
  const draft = draftForm(quietly)
  const draftCard = h("section", { class: "card", "aria-label": "Payment" }, draft.form)
  const form = h("div", {})
  const drawOrder = (order: DisplayOrder) => {
    if (order.order_items.length === 0) return emptyView()
    return order.status === "PendingPayment" ? pendingView(order, drawn) : draftView(order)
  }
  const drawCart = () => {
    const { expired, order } = cart.value
    const next = shownState(cart.value)
    if (isHeld || next === shown) return
    shown = next
    drawn.end()
    drawn = new Lifetime()
    const isPending = order?.status === "PendingPayment"
    if (pending !== undefined && order !== undefined && order.id !== pending)
      leaveIfPaid(pending, lifetime).catch(() => {})
    pending = isPending ? order.id : undefined
    fill(heading, isPending ? "Checkout" : "Cart")
    const isDraft = order?.status === "Draft" && order.order_items.length > 0
    if (isDraft) draft.update(order)
    const wanted = isPending ? promo : isDraft ? draftCard : undefined
    if (form.firstElementChild !== (wanted ?? null)) fill(form, wanted)
    fill(place, expired !== undefined ? expiredView(expired) : order !== undefined && drawOrder(order))
  }
  root.append(heading, place, form, h("h2", {}, "Orders"), history)
  if (cart.value.order === undefined && cart.value.expired === undefined) await loadCart()
  lifetime.onEnd(() => drawn.end())
  lifetime.onEnd(
    cart.watch(() => {
      readHistory()
      drawCart()
    }),
  )
  return "Cart"
}
