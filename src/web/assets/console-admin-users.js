import { actionButton } from "./console-actions.js"
import { call, get } from "./console-api.js"
import { badge, fill, h } from "./console-dom.js"
import { explain } from "./console-http.js"
import { notify } from "./console-notices.js"
import { account } from "./console-session.js"
import { drawPaged, table } from "./console-subnav.js"

const roles = ["User", "Bot", "Admin", "Super"]

const roleSelect = (user, again) =>
  h(
    "select",
    {
      "aria-label": `Role of ${user.email ?? user.id}`,
      disabled: user.id === account.value?.user.id,
      onchange: async ({ target }) => {
        try {
          await call("PATCH", `/users/${user.id}`, { role: target.value })
          notify(`${user.email ?? "The user"} is ${target.value} now.`, "good")
        } catch (error) {
          notify(explain(error), "bad")
        }
        await again()
      },
    },
    [...new Set([user.role, ...roles])].map((role) =>
      h("option", { value: role, selected: role === user.role }, role),
    ),
  )

const activation = (user, again) => {
  if (user.id === account.value?.user.id) return badge("You")
  const isActive = user.deactivated_at === undefined
  return actionButton(
    isActive ? "Deactivate" : "Activate",
    async () => {
      await call("PATCH", `/users/${user.id}`, { active: !isActive })
      await again()
    },
    { class: "plain small" },
  )
}

export const drawUsers = async (place) => {
  const list = h("div", {})
  fill(place, list)
  const start = () =>
    drawPaged(
      list,
      (page) => get(`/users?limit=20&page=${page}`),
      (users) =>
        table(
          ["User", "Ids", "Two-factor", "Role", ""],
          users.map((user) => [
            [
              h("strong", {}, user.email ?? user.alternate_id ?? user.id),
              " ",
              user.deactivated_at !== undefined && badge("Deactivated", "bad"),
              user.email !== undefined &&
                user.email_verified_at === undefined &&
                badge("Unconfirmed", "warn"),
            ],
            h("span", { class: "emoji-line" }, user.emoji_ids.slice(0, 6).join(" ") || "—"),
            user.two_factor_auth?.length > 0 ? "on" : "off",
            roleSelect(user, start),
            activation(user, start),
          ]),
        ),
    )
  await start()
}
