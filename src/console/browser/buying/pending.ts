import type { DisplayOrder } from "../../../client/api-types.ts"
import { actionButton, actionForm } from "../parts/actions.ts"
import { field, fill, h } from "../parts/dom.ts"
import { dollars, remaining } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import type { Lifetime } from "../parts/signal.ts"
import { call } from "../platform/api.ts"
import { serverNow } from "../platform/http.ts"
import { loadCart, showCart } from "../platform/store.ts"
import {
  checkOut,
  checkOutFree,
  freeButton,
  goToPayment,
  type Method,
  methodNames,
  methodWords,
  offeredMethods,
} from "./checkout.ts"
import { itemList, paidLine, sums } from "./items.ts"

/** Shows the time left to pay. At zero, the view waits until the service reports that the cart expired. */
const countdown = (expiresAt: string, lifetime: Lifetime) => {
  const clock = h("strong", { class: "clock", role: "timer" })
  const line = h("p", { class: "hold" }, "Time left to pay ", clock)
  const deadline = Date.parse(expiresAt)
  let timer: ReturnType<typeof setTimeout> | undefined
  const tick = () => {
    const left = deadline - serverNow()
    fill(clock, remaining(left))
    line.classList.toggle("soon", left < 60_000)
    if (left > 0) timer = setTimeout(tick, left % 1000 || 1000)
  }
  tick()
  lifetime.onEnd(() => clearTimeout(timer))
  return line
}

const payLink = ({ payment_method_data: payment, remaining_due_in_cents: due }: DisplayOrder) =>
  payment?.checkout_url !== undefined &&
  h(
    "a",
    { class: "button", href: payment.checkout_url },
    `Pay ${dollars(due)} ${methodWords[payment.method]}`,
  )

/** The button for an order with nothing left to pay: fully paid, or free. */
const completeButton = ({ total_in_cents: total }: DisplayOrder) =>
  actionButton(total > 0 ? "Complete order" : "Get for free", checkOutFree)

const payInstead = (order: DisplayOrder, method: Method) =>
  actionButton(
    `Pay ${methodWords[method]} instead`,
    async () => {
      const changed = await checkOut(order.id, method)
      showCart(changed)
      goToPayment(changed)
    },
    { class: "quiet" },
  )

/** The other ways to pay. The service replaces the payment; the time left to pay does not change. */
const otherMethods = (order: DisplayOrder) => {
  const current = order.payment_method_data?.method
  const buttons = [
    ...offeredMethods()
      .filter((method) => method !== current)
      .map((method) => payInstead(order, method)),
    freeButton(order, "quiet"),
  ].filter((button) => button !== false)
  return (
    order.remaining_due_in_cents > 0 &&
    buttons.length > 0 &&
    h("div", { class: "row", role: "group", "aria-label": "Change the payment method" }, buttons)
  )
}

const cancelOrder = async (): Promise<void> => {
  await call("DELETE /cart")
  await loadCart()
  notify("The order was cancelled.")
}

/** An order that is checked out and not paid: its items, its price, and the ways to pay it. */
export const pendingView = (order: DisplayOrder, lifetime: Lifetime) => {
  const method = order.payment_method_data?.method
  return h(
    "section",
    { class: "card", "aria-label": "Cart" },
    order.expires_at !== undefined && countdown(order.expires_at, lifetime),
    itemList(order),
    sums(order),
    paidLine(order),
    method !== undefined && h("p", { class: "soft small" }, `Payment method: ${methodNames[method]}`),
    order.last_payment_error && h("p", { class: "bad", role: "alert" }, order.last_payment_error),
    h(
      "div",
      { class: "row" },
      order.remaining_due_in_cents > 0 ? payLink(order) : completeButton(order),
      actionButton("Edit cart", async () => showCart(await call("POST /cart/convert_to_draft")), {
        sign: "pencil",
        class: "plain",
      }),
      actionButton("Cancel order", cancelOrder, { class: "quiet" }),
    ),
    otherMethods(order),
  )
}

/**
 * The form for a promo code. It is separate from the cart, so that typed text is not lost when the cart is redrawn.
 */
export const promoForm = () =>
  h(
    "section",
    { class: "card" },
    actionForm(
      {
        label: "Apply",
        plain: true,
        name: "Discount",
        submit: async (values, form) => {
          const code = values.text("code").trim()
          showCart(await call("POST /cart/promo_code", { body: { code } }))
          form.reset()
          notify("The code was applied.", "good")
        },
      },
      field("Promo code", { name: "code", maxlength: "64", required: true }),
    ),
  )
