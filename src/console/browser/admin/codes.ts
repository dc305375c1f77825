import type { CodeAvailability } from "../../../client/api-types.ts"
import { actionForm, confirmButton } from "../parts/actions.ts"
import { badge, empty, field, fill, h } from "../parts/dom.ts"
import { dollars, when } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { drawPaged, type Section, table } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { drawBudgets } from "./budgets.ts"

const gives = (code: CodeAvailability): string => {
  if (code.code_type === "RandomYat") return "a random id"
  return code.discount_as_percentage === undefined
    ? `${dollars(code.discount_in_cents ?? 0)} off`
    : `${code.discount_as_percentage}% off`
}

const uses = (code: CodeAvailability): string =>
  code.max_uses === undefined ? `${code.total_uses}` : `${code.total_uses} of ${code.max_uses}`

export const drawCodes: Section["draw"] = async (place) => {
  const list = h("div", {})
  const budgets = h("section", { class: "card" })
  const start = () =>
    drawPaged(
      list,
      (cursor) => call("GET /codes", { query: { limit: 20, ...cursor } }),
      (codes, again) =>
        codes.length === 0
          ? empty("🏷️", "No promo codes.")
          : table(
              ["Code", "Benefit", "Used", "Valid until", ""],
              codes.map((code) => [
                [
                  h("code", {}, code.redemption_code ?? code.name),
                  h("br"),
                  h("span", { class: "soft small" }, code.name),
                  code.organization_id !== undefined && [" ", badge("Organization")],
                ],
                gives(code),
                uses(code),
                code.end_date === undefined ? "—" : when(code.end_date),
                code.deleted_at === undefined
                  ? confirmButton(
                      "Delete",
                      {
                        question: `Delete the code ${code.redemption_code ?? code.name}?`,
                        consequence: "The code can no longer be used. You cannot undo this.",
                      },
                      async () => {
                        await call("DELETE /codes/{code_id}", { params: { code_id: code.id } })
                        await again()
                      },
                      { sign: "trash-2", class: "plain small" },
                    )
                  : badge("Deleted"),
              ]),
            ),
    )
  fill(
    place,
    list,
    h(
      "section",
      { class: "card" },
      h("h2", {}, "New discount code"),
      actionForm(
        {
          label: "Create code",
          sign: "plus",
          name: "New discount code",
          submit: async (values, form) => {
            const max_uses = values.text("max_uses")
            await call("POST /codes", {
              body: {
                name: values.text("name"),
                code_type: "Discount",
                redemption_code: values.text("redemption_code"),
                discount_as_percentage: Number(values.text("percent")),
                ...(max_uses === "" ? {} : { max_uses: Number(max_uses) }),
              },
            })
            form.reset()
            notify("The code was created.", "good")
            await start()
          },
        },
        field("Name", { name: "name", maxlength: "200", required: true }),
        field(
          "Redemption code",
          { name: "redemption_code", pattern: "[A-Za-z0-9_\\-]{3,64}", required: true },
          "3 to 64 letters, digits, dashes or underscores.",
        ),
        h(
          "div",
          { class: "field-row" },
          field("Percent off", {
            name: "percent",
            type: "number",
            min: "1",
            max: "100",
            value: "10",
            required: true,
          }),
          field("Maximum uses (optional)", { name: "max_uses", type: "number", min: "1" }),
        ),
      ),
    ),
    budgets,
  )
  await Promise.all([start(), drawBudgets(budgets)])
}
