import type { Organization, OrganizationMember, Role } from "../../../client/api-types.ts"
import { actionForm, confirmButton } from "../parts/actions.ts"
import { choice, field, fill, h } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { call } from "../platform/api.ts"
import { account } from "../platform/session.ts"

type MemberRole = OrganizationMember["role"]

const roles: Readonly<Record<MemberRole, readonly [name: string, text: string]>> = {
  OrgMember: ["Member", "sees the organization and its members"],
  OrgController: ["Controller", "also manages emoji ids, codes and branding"],
  OrgOwner: ["Owner", "also manages the members"],
}
const isMemberRole = (role: string): role is MemberRole => Object.hasOwn(roles, role)

export const roleWords = (role: Role): string => (isMemberRole(role) ? roles[role][0] : role)

const roleOptions = Object.entries(roles).map(([role, [name, text]]) => [role, `${name}: ${text}`] as const)

const nameOf = ({ email, first_name, last_name, user_id }: OrganizationMember): string =>
  [first_name, last_name].filter(Boolean).join(" ") || email || user_id

const readRole = (text: string): MemberRole => (isMemberRole(text) ? text : "OrgMember")

const roleForm = (organization: Organization, member: OrganizationMember, again: () => Promise<void>) => {
  const { user_id } = member
  const select = choice(`Role of ${nameOf(member)}`, "role", roleOptions)
  const input = select.querySelector("select")
  if (input !== null) input.value = member.role
  return actionForm(
    {
      label: "Change role",
      plain: true,
      name: `Role of ${nameOf(member)}`,
      submit: async (values) => {
        await call("PUT /organizations/{id}/members/{user_id}", {
          params: { id: organization.id, user_id },
          body: { role: readRole(values.text("role")) },
        })
        notify("The role was changed.", "good")
        await again()
      },
    },
    select,
  )
}

const removeButton = ({ id, name }: Organization, member: OrganizationMember, again: () => Promise<void>) =>
  confirmButton(
    "Remove",
    {
      question: `Remove ${nameOf(member)}?`,
      consequence: `${nameOf(member)} loses access to ${name} immediately.`,
    },
    async () => {
      await call("DELETE /organizations/{id}/members/{user_id}", { params: { id, user_id: member.user_id } })
      notify(`${nameOf(member)} was removed.`, "good")
      await again()
    },
    { class: "plain", sign: "trash-2", "aria-label": `Remove ${nameOf(member)}` },
  )

const item = (organization: Organization, member: OrganizationMember, again?: () => Promise<void>) => {
  const isSelf = member.user_id === account.value?.user.id
  return h(
    "li",
    { class: "member" },
    h(
      "div",
      { class: "spread" },
      h(
        "span",
        {},
        h("strong", {}, nameOf(member)),
        isSelf && " (you)",
        h("br"),
        h("span", { class: "soft small" }, `${roleWords(member.role)} · since ${when(member.created_at)}`),
      ),
      again !== undefined && !isSelf && removeButton(organization, member, again),
    ),
    again !== undefined &&
      !isSelf &&
      h("details", {}, h("summary", {}, "Change role"), roleForm(organization, member, again)),
  )
}

const addForm = ({ id }: Organization, again: () => Promise<void>) =>
  actionForm(
    {
      label: "Add member",
      sign: "plus",
      name: "New member",
      submit: async (values, form) => {
        await call("PUT /organizations/{id}/members/{user_id}", {
          params: { id, user_id: values.text("user_id").trim() },
          body: { role: readRole(values.text("role")), email: values.text("email").trim() },
        })
        form.reset()
        notify("The member was added.", "good")
        await again()
      },
    },
    field("Email", { name: "email", type: "email", maxlength: "320", required: true }),
    field(
      "Account number",
      { name: "user_id", maxlength: "36", required: true, spellcheck: "false" },
      "The person finds it on the profile page of the account. Both must match, so that nobody is added by mistake.",
    ),
    choice("Role", "role", roleOptions),
  )

/** Draws the members. With `manages`, members can be added, changed and removed. */
export const drawMembers = async (
  place: Element,
  organization: Organization,
  manages: boolean,
): Promise<void> => {
  const list = h("ul", { class: "plain-list", "aria-label": "Members" })
  const load = async (): Promise<void> => {
    const members = await call("GET /organizations/{id}/members", { params: { id: organization.id } })
    fill(
      list,
      members.map((member) => item(organization, member, manages ? load : undefined)),
    )
  }
  fill(
    place,
    h("h2", {}, "Members"),
    list,
    manages &&
      h("details", { class: "adder" }, h("summary", {}, "Add a member"), addForm(organization, load)),
  )
  await load()
}
