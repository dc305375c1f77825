import { actionButton, actionForm, finalButton } from "../parts/actions.js"
import { badge, emojiLine, empty, field, fill, h } from "../parts/dom.js"
import { words } from "../parts/format.js"
import { notify } from "../parts/notices.js"
import { drawPaged, table } from "../parts/subnav.js"
import { call, get } from "../platform/api.js"
import { account, may } from "../platform/session.js"

const roles = ["User", "Bot", "Admin", "Super"]

const nameOf = (user) => user.email ?? user.alternate_id ?? user.id

/** Chosen first and given then: the arrow keys pass by roles that nobody means. */
const roleChoice = (user, again) => {
  const name = nameOf(user)
  const give = actionButton(
    "Give",
    async () => {
      await call("PATCH", `/users/${user.id}`, { role: select.value })
      notify(`${name} is ${words(select.value)} now.`, "good")
      await again()
    },
    { class: "plain small", hidden: true, "aria-label": `Give ${name} this role` },
  )
  const select = h(
    "select",
    {
      "aria-label": `Role of ${name}`,
      disabled: user.id === account.value?.user.id,
      onchange: () => {
        give.hidden = select.value === user.role
      },
    },
    [...new Set([user.role, ...roles])].map((role) =>
      h("option", { value: role, selected: role === user.role }, words(role)),
    ),
  )
  return h("div", { class: "cell-actions" }, select, give)
}

const activation = (user, again) => {
  if (user.id === account.value?.user.id) return badge("You")
  const set = async (active) => {
    await call("PATCH", `/users/${user.id}`, { active })
    await again()
  }
  if (user.deactivated_at !== undefined)
    return actionButton("Activate", () => set(true), { class: "plain small" })
  return finalButton(
    "Deactivate",
    {
      question: `Deactivate ${nameOf(user)}?`,
      consequence: "They are signed out everywhere and cannot sign in until they are activated again.",
    },
    () => set(false),
    { class: "plain small" },
  )
}

const twoFactor = (user, again) => {
  if (!(user.two_factor_auth?.length > 0)) return "off"
  if (user.id === account.value?.user.id || !may("adminUser:twoFactorAuthDestroy")) return "on"
  return h(
    "div",
    {},
    "on ",
    finalButton(
      "Take off",
      {
        question: `Take two-factor off ${nameOf(user)}?`,
        consequence:
          "For somebody who lost the phone and the backup code, and is who they say they are: from then on their password alone opens the account. They are signed out everywhere.",
      },
      async () => {
        await call("DELETE", `/users/${user.id}/2fa`)
        notify(`${nameOf(user)} signs in without a code now.`, "good")
        await again()
      },
      { class: "plain small" },
    ),
  )
}

const rows = (users, again) =>
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
        user.deactivated_at !== undefined && badge("Deactivated", "bad"),
        user.email !== undefined && user.email_verified_at === undefined && badge("Unconfirmed", "warn"),
      ),
      user.emoji_ids.length === 0 ? "—" : emojiLine(user.emoji_ids.slice(0, 6)),
      twoFactor(user, again),
      roleChoice(user, again),
      activation(user, again),
    ]),
  )

export const drawUsers = async (place) => {
  const list = h("div", {})
  let search = ""
  const start = () =>
    drawPaged(
      list,
      (page) => get(`/users?limit=20&page=${page}&search=${encodeURIComponent(search)}`),
      (users, again) => (users.length === 0 ? empty("👤", "Nobody like that.") : rows(users, again)),
    )
  fill(
    place,
    h(
      "div",
      { role: "search" },
      actionForm(
        {
          label: "Find",
          plain: true,
          submit: async (values) => {
            search = values.search.trim()
            await start()
          },
        },
        field(
          "Find a user",
          { name: "search", type: "search", maxlength: "320" },
          "The beginning of an email or alternate id, a user's id, or an emoji id. Leave it empty to see all.",
        ),
      ),
    ),
    list,
  )
  await start()
}
