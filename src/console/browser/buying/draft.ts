import type { DisplayOrder } from "../../../client/api-types.ts"
import { actionButton, actionForm, type Values } from "../parts/actions.ts"
import { field, fill, h } from "../parts/dom.ts"
import { dollars } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { call } from "../platform/api.ts"
import { explain } from "../platform/http.ts"
import { cart, loadCart, showCart } from "../platform/store.ts"
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

/** Runs a task. The cart view is drawn again only when the task is done, so that it shows no intermediate state. */
export type Quietly = (task: () => Promise<void>) => Promise<void>

const methodChoice = (methods: ReadonlyArray<Method>) =>
  h(
    "fieldset",
    { class: "methods" },
    h("legend", {}, "Payment method"),
    methods.map((method, i) =>
      h(
        "label",
        { class: "method-choice" },
        h("input", { type: "radio", name: "method", value: method, checked: i === 0 }),
        h("span", {}, methodNames[method]),
      ),
    ),
  )

/**
 * Applies a code to the order that was checked out for it. If this fails, the order becomes a draft again, so that it is
 * not paid at a price without the discount.
 */
const applyCode = async (code: string): Promise<void> => {
  try {
    showCart(await call("POST /cart/promo_code", { body: { code } }))
  } catch (error) {
    await call("POST /cart/convert_to_draft").then(showCart, loadCart)
    if (cart.value.order?.status === "Draft") throw error
    // The form of the draft is not shown any more, so a notice shows the error.
    notify(explain(error), "bad")
  }
}

const pay = async (order: DisplayOrder, values: Values): Promise<void> => {
  if (order.remaining_due_in_cents <= 0) return checkOutFree()
  const method = offeredMethods().find((offered) => offered === values.text("method"))
  if (method === undefined) return
  const pending = await checkOut(order.id, method)
  const code = values.text("code").trim()
  if (code !== "") return applyCode(code)
  showCart(pending)
  goToPayment(pending)
}

const emptyButton = () =>
  actionButton("Empty cart", async () => showCart(await call("DELETE /cart")), {
    sign: "trash-2",
    class: "quiet",
  })

/**
 * The form that checks out a draft. It exists as long as the view, so that a typed code is not lost when the cart is
 * drawn again. `update` adapts it to the cart.
 */
export const draftForm = (quietly: Quietly) => {
  const methods = offeredMethods()
  const choice = methodChoice(methods)
  const promo = field("Promo code (optional)", { name: "code", maxlength: "64" })
  const others = h("span", { class: "row-rest" })
  const noPayment = h("p", { class: "soft" }, "Card payments are not configured on this server.")
  const takenNote = h("p", { class: "bad" }, "Remove the items that are no longer available to continue.")
  let current: DisplayOrder | undefined
  const form = actionForm(
    {
      label: "Pay",
      name: "Checkout",
      beside: others,
      submit: (values) =>
        quietly(async () => {
          if (current !== undefined) await pay(current, values)
        }),
    },
    takenNote,
    noPayment,
    choice,
    promo,
  )
  const button = form.querySelector<HTMLButtonElement>("button:not([type])")!
  const labelOf = ({ remaining_due_in_cents: due, total_in_cents: total }: DisplayOrder): string => {
    const values = new FormData(form)
    if (due <= 0) return total > 0 ? "Complete order" : "Get for free"
    if (String(values.get("code") ?? "").trim() !== "") return "Apply code and continue"
    const method = methods.find((offered) => offered === values.get("method"))
    return `Pay ${dollars(due)} ${method === undefined ? "" : methodWords[method]}`
  }
  const drawButton = () => {
    if (current !== undefined) fill(button, labelOf(current))
  }
  form.addEventListener("input", drawButton)
  const update = (order: DisplayOrder) => {
    current = order
    const due = order.remaining_due_in_cents
    // The service refuses the checkout of a cart with such an item.
    const hasTaken = order.order_items.some((item) => item.marked_invalid_at_reason === "Taken")
    const mayPay = !hasTaken && due > 0 && methods.length > 0
    takenNote.hidden = !hasTaken
    noPayment.hidden = due <= 0 || methods.includes("CardCheckout")
    choice.hidden = !mayPay
    promo.hidden = !mayPay
    button.hidden = hasTaken || (due > 0 && methods.length === 0)
    fill(others, !hasTaken && freeButton(order), emptyButton())
    drawButton()
  }
  return { form, update }
}
