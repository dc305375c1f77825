import { actionButton, actionForm, finalButton } from "../parts/actions.js"
import { emojiText, empty, field, fill, h } from "../parts/dom.js"
import { counted, when } from "../parts/format.js"
import { drawPaged, drawPages } from "../parts/subnav.js"
import { call, get } from "../platform/api.js"
import { account } from "../platform/session.js"
import { drawIds } from "./owned.js"
import { drawProfile } from "./profile.js"
import { drawSecurity } from "./security.js"

const drawKeys = async (place) => {
  const list = h("ul", { class: "plain-list" })
  const made = h("div", { "aria-live": "polite" })
  const load = async () => {
    const keys = await get("/api_keys")
    fill(
      list,
      keys.length === 0
        ? h("li", { class: "soft" }, "No keys yet.")
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
                  `${counted(key.scopes?.length ?? 0, "scope")} · made ${when(key.created_at)}`,
                ),
              ),
              finalButton(
                "Delete",
                {
                  question: `Delete the key ${key.name}?`,
                  consequence: "Whatever signs in with it stops working at once.",
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
      h("h2", {}, "New key"),
      actionForm(
        {
          label: "Make the key",
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
                h("p", {}, "Copy it now; it is shown this once."),
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
          h("legend", {}, "What it may do"),
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
    h("span", { class: "soft small" }, `since ${when(created_at)}`),
    actionButton(
      "Forget it",
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
        ? empty("🔔", "You wait for no id. Search for a taken one on the market and ask to be told.")
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
  keys: { label: "API keys", draw: drawKeys },
  interests: { label: "Waiting for", draw: drawInterests },
}

export const draw = (root, life, rest) => {
  root.append(h("h1", {}, "Account"))
  return drawPages(root, "account", pages, life, rest)
}
