import type { DisplayUserExtended, Role } from "../../../client/api-types.ts"
import { drawLog } from "../account/security-log.ts"
import { actionButton, confirmButton } from "../parts/actions.ts"
import { badge, emojiLine, empty, fill, h } from "../parts/dom.ts"
import { words } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { drawPaged, type Section, table } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { account, may } from "../platform/session.ts"
import { searchForm } from "./search-form.ts"

type User = DisplayUserExtended
type Again = () => Promise<void>

const roles: ReadonlyArray<Role> = ["User", "Bot", "Admin", "Super"]

const nameOf = (user: Pick<User, "alternate_id" | "email" | "id">): string =>
  user.email ?? user.alternate_id ?? user.id

/**
 * A list to select the role of a user. A separate button saves the role, because the arrow keys select other roles
 * before the wanted one.
 */
const roleChoice = (user: User, again: Again) => {
  const name = nameOf(user)
  const save = actionButton(
    "Save",
    async () => {
      const role = select.value as Role
      await call("PATCH /users/{id}", { params: { id: user.id }, body: { role } })
      notify(`${name} now has the role ${words(role)}.`, "good")
      await again()
    },
    { class: "plain small", hidden: true, "aria-label": `Save the new role for ${name}` },
  )
  const select: HTMLSelectElement = h(
    "select",
    {
      "aria-label": `Role of ${name}`,
      disabled: user.id === account.value?.user.id,
      onchange: () => {
        save.hidden = select.value === user.role
      },
    },
    [...new Set([user.role, ...roles])].map((role) =>
      h("option", { value: role, selected: role === user.role }, words(role)),
    ),
  )
  return h("div", { class: "cell-actions" }, select, save)
}

const activation = (user: User, again: Again) => {
  if (user.id === account.value?.user.id) return badge("You")
  const set = async (active: boolean) => {
    await call("PATCH /users/{id}", { params: { id: user.id }, body: { active } })
    await again()
  }
  if (user.deactivated_at !== undefined)
    return actionButton("Activate", () => set(true), { class: "plain small" })
  return confirmButton(
    "Deactivate",
    {
      question: `Deactivate ${nameOf(user)}?`,
      consequence:
        "The user is signed out on all devices and cannot sign in until you activate the account again.",
    },
    () => set(false),
    { class: "plain small" },
  )
}

const twoFactor = (user: User, again: Again) => {
  if ((user.two_factor_auth ?? []).length === 0) return "off"
  if (user.id === account.value?.user.id || !may("adminUser:twoFactorAuthDestroy")) return "on"
  return h(
    "div",
    {},
    "on ",
    confirmButton(
      "Turn off",
      {
        question: `Turn off two-factor authentication for ${nameOf(user)}?`,
        consequence:
          "Do this only if the user lost the device and the backup codes, and you have verified their identity. The user is signed out on all devices and can then sign in with the password alone.",
      },
      async () => {
        await call("DELETE /users/{id}/2fa", { params: { id: user.id } })
        notify(`Two-factor authentication is off for ${nameOf(user)}.`, "good")
        await again()
      },
      { class: "plain small" },
    ),
  )
}

const rows = (users: ReadonlyArray<User>, again: Again) =>
  table(
    ["User", "Ids", "Two-factor", "Role", ""],
    users.map((user) => [
      h(
        "div",
        {},
        h("strong", {}, nameOf(user)),
        " ",
        h(
          "a",
          { class: "small", href: `#/admin/orders/${user.id}`, "aria-label": `Orders of ${nameOf(user)}` },
          "Orders",
        ),
        " ",
        may("adminUser:load") &&
          h(
            "a",
            {
              class: "small",
              href: `#/admin/users/${user.id}`,
              "aria-label": `Security log of ${nameOf(user)}`,
            },
            "Security log",
          ),
        " ",
        user.deactivated_at !== undefined && badge("Deactivated", "bad"),
        user.email !== undefined &&
          user.email_verified_at === undefined &&
          badge("Email not confirmed", "warn"),
      ),
      user.emoji_ids.length === 0 ? "—" : emojiLine(user.emoji_ids.slice(0, 6)),
      twoFactor(user, again),
      roleChoice(user, again),
      activation(user, again),
    ]),
  )

const drawUserLog = async (place: Element, userId: string): Promise<void> => {
  const user = await call("GET /users/{id}", { params: { id: userId } })
  const list = h("div", {})
  fill(
    place,
    h("p", {}, "Security log of ", h("strong", {}, nameOf(user)), ". "),
    h("p", {}, h("a", { href: "#/admin/users" }, "Show all users")),
    list,
  )
  const params = { id: user.id }
  await drawLog(list, (query) => call("GET /users/{id}/security_log", { params, query }), "The user")
}

export const drawUsers: Section["draw"] = async (place, _lifetime, [userId]) => {
  if (userId !== undefined) return drawUserLog(place, userId)
  const list = h("div", {})
  let search = ""
  const start = () =>
    drawPaged(
      list,
      (cursor) => call("GET /users", { query: { limit: 20, search, ...cursor } }),
      (users, again) => (users.length === 0 ? empty("👤", "No users found.") : rows(users, again)),
    )
  fill(
    place,
    searchForm({
      label: "Find a user",
      hint: "The start of an email address or alternate id, a user id, or an emoji id. Leave empty to list all users.",
      maxlength: 320,
      find: (text) => {
        search = text
        return start()
      },
    }),
    list,
  )
  await start()
}
