import type { CodeBudget } from "../../../client/api-types.ts"
import { actionForm } from "../parts/actions.ts"
import { field, fill, h } from "../parts/dom.ts"
import { dollars } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { type Cursor, drawPaged, table } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"

interface Row {
  readonly id: string
  readonly name: string
  readonly budget: CodeBudget
}

const withBudgets = async (cursor: Cursor) => {
  const query = { limit: 10, sort: "name", dir: "Asc", ...cursor } as const
  const { data, paging } = await call("GET /organizations", { query })
  const rows = await Promise.all(
    data.map(async ({ id, name }): Promise<Row> => {
      const budget = await call("GET /organizations/{id}/code_budget", { params: { id } })
      return { id, name, budget }
    }),
  )
  return { data: rows, paging }
}

const row = ({ budget, id, name }: Row, again: () => Promise<void>) => [
  name,
  dollars(budget.budget_in_cents),
  dollars(budget.used_in_cents),
  dollars(budget.remaining_in_cents),
  actionForm(
    {
      label: "Set",
      name: `Budget of ${name}`,
      plain: true,
      submit: async (values) => {
        const body = { budget_in_cents: Math.round(Number(values.text("dollars")) * 100) }
        await call("PUT /organizations/{id}/code_budget", { params: { id }, body })
        notify(`The budget of ${name} was set.`, "good")
        await again()
      },
    },
    field("New budget in dollars", {
      name: "dollars",
      type: "number",
      min: "0",
      max: "1000000000",
      step: "0.01",
      required: true,
    }),
  ),
]

/** Lists organizations with the budgets for their codes, and lets the operator set the budgets. */
export const drawBudgets = async (place: Element): Promise<void> => {
  const list = h("div", {})
  await drawPaged(list, withBudgets, (organizations, again) =>
    organizations.length === 0
      ? h("p", { class: "soft" }, "No organizations.")
      : table(
          ["Organization", "Budget", "Used", "Left", ""],
          organizations.map((organization) => row(organization, again)),
        ),
  )
  fill(
    place,
    h("h2", {}, "Budgets of organizations"),
    h(
      "p",
      { class: "soft small" },
      "The codes of an organization work only on its partner pages or with a signature by one of the code's keys. Their discounts together cannot exceed this budget.",
    ),
    list,
  )
}
