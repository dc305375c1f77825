import type { CodeBudget, Organization } from "../../../client/api-types.ts"
import { actionForm, confirmButton } from "../parts/actions.ts"
import { field, fill, h } from "../parts/dom.ts"
import { dollars, when } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { call } from "../platform/api.ts"
import { account, loadAccount, may } from "../platform/session.ts"
import { drawMembers, roleWords } from "./organization-members.ts"

/** Whether the user may do something in an organization, as a member or as an administrator. */
const mayIn = (
  id: string,
  scope: "organization:write" | "organizationUser:admin" | "organizationCode:admin",
) => may(scope) || (account.value?.organization_scopes[id]?.includes(scope) ?? false)

const nameForm = ({ id, name }: Organization) =>
  h(
    "section",
    { class: "card" },
    h("h2", {}, "Name"),
    actionForm(
      {
        label: "Save",
        name: "Organization",
        submit: async (values) => {
          await call("PATCH /organizations/{id}", { params: { id }, body: { name: values.text("name") } })
          notify("The name was changed.", "good")
        },
      },
      field("Name", { name: "name", maxlength: "200", required: true, value: name }),
    ),
  )

const budgetCard = ({ budget_in_cents, remaining_in_cents, used_in_cents }: CodeBudget) =>
  h(
    "section",
    { class: "card" },
    h("h2", {}, "Budget for promo codes"),
    h(
      "dl",
      { class: "particulars" },
      h("dt", {}, "Budget"),
      h("dd", {}, dollars(budget_in_cents)),
      h("dt", {}, "Used"),
      h("dd", {}, dollars(used_in_cents)),
      h("dt", {}, "Left"),
      h("dd", {}, dollars(remaining_in_cents)),
    ),
    h("p", { class: "soft small" }, "The operator sets the budget. Ask the operator if you need more."),
  )

const leaveCard = ({ id, name }: Organization) =>
  h(
    "section",
    { class: "card" },
    h("h2", {}, "Leave"),
    h("p", { class: "soft" }, "You lose access to the emoji ids, codes and members of this organization."),
    confirmButton(
      "Leave organization",
      {
        question: `Leave ${name}?`,
        consequence: "You lose access to it immediately. Only an owner can add you again.",
      },
      async () => {
        const user_id = account.value?.user.id ?? ""
        await call("DELETE /organizations/{id}/members/{user_id}", { params: { id, user_id } })
        await loadAccount()
        notify(`You left ${name}.`)
        location.hash = "#/account/organizations"
      },
      { sign: "log-out", class: "plain" },
    ),
  )

/** Draws one organization: its members, its budget, its name, and the way out. */
export const drawOrganization = async (place: HTMLElement, id: string): Promise<void> => {
  const organization = await call("GET /organizations/{id}", { params: { id } })
  const role = account.value?.organization_roles[id]
  const members = h("section", { class: "card" })
  const budget = mayIn(id, "organizationCode:admin")
    ? await call("GET /organizations/{id}/code_budget", { params: { id } })
    : undefined
  fill(
    place,
    h("p", {}, h("a", { href: "#/account/organizations" }, "← All organizations")),
    h("h2", {}, organization.name),
    h(
      "p",
      { class: "soft" },
      [role === undefined ? "" : `Your role: ${roleWords(role)}`, `created ${when(organization.created_at)}`]
        .filter(Boolean)
        .join(" · "),
    ),
    members,
    budget !== undefined && budgetCard(budget),
    mayIn(id, "organization:write") && nameForm(organization),
    role !== undefined && leaveCard(organization),
  )
  await drawMembers(members, organization, mayIn(id, "organizationUser:admin"))
}
