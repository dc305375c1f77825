import { actionForm } from "../parts/actions.js"
import { field, fill, h } from "../parts/dom.js"
import { dollars } from "../parts/format.js"
import { notify } from "../parts/notices.js"
import { drawPaged, table } from "../parts/subnav.js"
import { call, get } from "../platform/api.js"

const path = (id) => `/organizations/${id}/code_budget`

const withBudgets = async (cursor) => {
  const { data, paging } = await get(`/organizations?limit=10${cursor}&sort=name&dir=Asc`)
  const rows = await Promise.all(
    data.map(async (organization) => ({ ...organization, budget: await get(path(organization.id)) })),
  )
  return { data: rows, paging }
}

const row = ({ budget, id, name }, again) => [
  name,
  dollars(budget.budget_in_cents),
  dollars(budget.used_in_cents),
  dollars(budget.remaining_in_cents),
  actionForm(
    {
      label: "Set",
      name: `Budget of ${name}`,
      plain: true,
      submit: async ({ dollars: given }) => {
        await call("PUT", path(id), { budget_in_cents: Math.round(Number(given) * 100) })
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
export const drawBudgets = async (place) => {
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
