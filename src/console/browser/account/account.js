import { actionButton, actionForm, confirmButton } from "../parts/actions.js"
import { emojiText, empty, field, fill, h } from "../parts/dom.js"
import { counted, when } from "../parts/format.js"
import { drawPaged, drawPages } from "../parts/subnav.js"
import { call, get } from "../platform/api.js"
import { account } from "../platform/session.js"
import { drawIds } from "./owned.js"
import { drawProfile } from "./profile.js"
import { drawSecurity } from "./security.js"
import { drawSecurityLog } from "./security-log.js"
import { drawSessions } from "./sessions.js"

const drawKeys = async (place) => {
  const list = h("ul", { class: "plain-list" })
  const made = h("div", { "aria-live": "polite" })
  const load = async () => {
    const keys = await get("/api_keys")
    fill(
      list,
      keys.length === 0
        ? h("li", { class: "soft" }, "No API keys yet.")
        : keys.map((key) =>
            h(
              "li",
              { class: "card row spread" },
              h(
                "span",
                {},
                h("strong", {}, key.name),
                h("br"),
                h(
                  "span",
                  { class: "soft small" },
                  `${counted(key.scopes?.length ?? 0, "scope")} · created ${when(key.created_at)}`,
                ),
              ),
              confirmButton(
                "Delete",
                {
                  question: `Delete the API key ${key.name}?`,
                  consequence: "Applications that use this key lose access immediately.",
                },
                async () => {
                  await call("DELETE", `/api_keys/${key.id}`)
                  await load()
                },
                { class: "plain" },
              ),
            ),
          ),
    )
  }
  const scopes = account.value?.global_scopes ?? []
  fill(
    place,
    list,
    made,
    h(
      "section",
      { class: "card" },
      h("h2", {}, "New API key"),
      actionForm(
        {
          label: "Create key",
          name: "New API key",
          submit: async ({ name }, form) => {
            const chosen = [...form.querySelectorAll("input[name=scope]:checked")].map(({ value }) => value)
            const key = await call("POST", "/api_keys", { name, scopes: chosen })
            form.reset()
            fill(
              made,
              h(
                "section",
                { class: "card good-edge" },
                h("p", {}, "Copy the key now. It is not shown again."),
                h("p", {}, h("code", {}, key.api_key)),
              ),
            )
            await load()
          },
        },
        field("Name", { name: "name", maxlength: "100", required: true }),
        h(
          "fieldset",
          { class: "scopes" },
          h("legend", {}, "Permissions"),
          scopes.map((scope) =>
            h(
              "label",
              { class: "tick small" },
              h("input", { type: "checkbox", name: "scope", value: scope }),
              " ",
              scope,
            ),
          ),
        ),
      ),
    ),
  )
  await load()
}

const interest = ({ created_at, emoji_id }, again) =>
  h(
    "li",
    { class: "card row spread" },
    h("a", { class: "tile-id", href: `#/market/${encodeURIComponent(emoji_id)}` }, emojiText(emoji_id)),
    h("span", { class: "soft small" }, `added ${when(created_at)}`),
    actionButton(
      "Remove",
      async () => {
        await call("DELETE", `/user_interests/${encodeURIComponent(emoji_id)}`)
        await again()
      },
      { class: "plain" },
    ),
  )

const drawInterests = (place) =>
  drawPaged(
    place,
    (page) => get(`/user_interests?limit=20&page=${page}`),
    (found, again) =>
      found.length === 0
        ? empty(
            "🔔",
            "Your watchlist is empty. Search the market for a taken id and choose “Notify me when available”.",
          )
        : h(
            "ul",
            { class: "plain-list" },
            found.map((one) => interest(one, again)),
          ),
  )

const pages = {
  ids: { label: "Ids", draw: drawIds },
  profile: { label: "Profile", draw: drawProfile },
  security: { label: "Two-factor", draw: drawSecurity },
  sessions: { label: "Sessions", draw: drawSessions },
  keys: { label: "API keys", draw: drawKeys },
  log: { label: "Security log", draw: drawSecurityLog },
  interests: { label: "Watchlist", draw: drawInterests },
}

export const draw = (root, lifetime, rest) => {
  root.append(h("h1", {}, "Account"))
  return drawPages(root, "account", pages, lifetime, rest)
}
