import type { PaymentMethod } from "../../../client/api-types.ts"
import { actionButton, confirmButton } from "../parts/actions.ts"
import { badge, empty, fill, h } from "../parts/dom.ts"
import { words } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"

const nameOf = ({ brand, last4, payment_type }: PaymentMethod): string =>
  [words(brand ?? payment_type), last4 === undefined ? "" : `ending in ${last4}`].filter(Boolean).join(" ")

const expiry = ({ exp_month, exp_year }: PaymentMethod): string =>
  exp_month === undefined || exp_year === undefined
    ? ""
    : `Expires ${String(exp_month).padStart(2, "0")}/${exp_year}`

const card = (method: PaymentMethod, again: () => Promise<void>) => {
  const { id, is_default } = method
  const name = nameOf(method)
  return h(
    "li",
    { class: "card row spread" },
    h(
      "span",
      {},
      h("strong", {}, name),
      " ",
      is_default && badge("Default", "good"),
      h("br"),
      h("span", { class: "soft small" }, expiry(method)),
    ),
    h(
      "span",
      { class: "row" },
      !is_default &&
        actionButton(
          "Make default",
          async () => {
            await call("PUT /payment_methods/{id}/default", { params: { id } })
            await again()
          },
          { class: "plain", "aria-label": `Make default: ${name}` },
        ),
      confirmButton(
        "Delete",
        {
          question: `Delete ${name}?`,
          consequence: "It is deleted here and at the payment provider. You can add it again when you pay.",
        },
        async () => {
          await call("DELETE /payment_methods/{id}", { params: { id } })
          notify(`${name} was deleted.`, "good")
          await again()
        },
        { class: "plain", sign: "trash-2", "aria-label": `Delete ${name}` },
      ),
    ),
  )
}

export const drawPaymentMethods: Section["draw"] = async (place) => {
  const list = h("div", {})
  const load = async (): Promise<void> => {
    const methods = await call("GET /payment_methods", { query: { limit: 100 } })
    fill(
      list,
      methods.length === 0
        ? empty("💳", "No payment methods are saved. A card that you save when you pay appears here.")
        : h(
            "ul",
            { class: "plain-list", "aria-label": "Payment methods" },
            methods.map((method) => card(method, load)),
          ),
    )
  }
  fill(
    place,
    h("p", { class: "soft" }, "Cards that you saved when you paid. The default one is charged next time."),
    list,
  )
  await load()
}
