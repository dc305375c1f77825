import { actionButton, actionForm, finalButton } from "./console-actions.js"
import { call, get } from "./console-api.js"
import { emojiText, empty, field, fill, h } from "./console-dom.js"
import { counted, when } from "./console-format.js"
import { notify } from "./console-notices.js"
import { outboxHint } from "./console-outbox.js"
import { drawIds } from "./console-owned.js"
import { drawSecurity } from "./console-security.js"
import { account, loadAccount, replaceLogin } from "./console-session.js"
import { drawPages } from "./console-subnav.js"

const confirmCard = (user) =>
  user.email !== undefined &&
  user.email_verified_at === undefined &&
  h(
    "section",
    { class: "card" },
    h("h2", {}, "Confirm your address"),
    h(
      "p",
      {},
      "Buying needs a confirmed address. Open the link that was mailed to ",
      h("strong", {}, user.email),
      ".",
    ),
    actionButton(
      "Mail it again",
      async () => {
        await call("POST", "/auth/magic_link", { email: user.email })
        notify("A link is on its way.")
      },
      { class: "plain" },
    ),
    outboxHint({
      to: user.email,
      kind: "confirm_email",
      label: "Confirm it from the outbox",
      take: async ({ link }) => {
        const token = new URL(link).searchParams.get("refresh_token")
        await call("POST", "/auth/magic_link/consume", { token })
        await loadAccount()
        notify("Your address is confirmed.", "good")
      },
    }),
  )

const drawProfile = (place, life) => {
  const drawUser = (current) => {
    if (current === undefined || place.contains(document.activeElement)) return
    const { user } = current
    fill(
      place,
      confirmCard(user),
      h(
        "section",
        { class: "card" },
        h(
          "dl",
          { class: "particulars" },
          h("dt", {}, "Role"),
          h("dd", {}, current.role),
          h("dt", {}, "Free ids left"),
          h("dd", {}, user.remaining_free_emoji),
          h("dt", {}, "Member since"),
          h("dd", {}, when(user.created_at)),
        ),
        actionForm(
          {
            label: "Save",
            name: "Names",
            submit: async ({ first_name, last_name }) => {
              await call("PATCH", "/account", { first_name, last_name })
              await loadAccount()
              notify("Saved.", "good")
            },
          },
          field("First name", {
            name: "first_name",
            value: user.first_name ?? "",
            maxlength: "100",
            autocomplete: "given-name",
          }),
          field("Last name", {
            name: "last_name",
            value: user.last_name ?? "",
            maxlength: "100",
            autocomplete: "family-name",
          }),
        ),
      ),
      h(
        "section",
        { class: "card" },
        h("h2", {}, "Password"),
        actionForm(
          {
            label: "Change the password",
            name: "Password",
            submit: async (values, form) => {
              await replaceLogin(async () => {
                const changed = await call("PATCH", "/account", {
                  password: values.password,
                  ...(values.current_password === "" ? {} : { current_password: values.current_password }),
                })
                return changed.token_response
              })
              form.reset()
              notify("The password was changed; every other session has ended.", "good")
            },
          },
          field(
            "Current password",
            { name: "current_password", type: "password", autocomplete: "current-password" },
            "Leave it empty if you have none.",
          ),
          field("New password", {
            name: "password",
            type: "password",
            autocomplete: "new-password",
            required: true,
          }),
        ),
      ),
    )
  }
  life.keep(account.watch(drawUser))
}

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

const drawInterests = async (place) => {
  const list = h("ul", { class: "plain-list" })
  const load = async () => {
    const { data } = await get("/user_interests?limit=100")
    fill(
      list,
      data.length === 0
        ? empty("🔔", "You wait for no id. Search for a taken one on the market and ask to be told.")
        : data.map(({ created_at, emoji_id }) =>
            h(
              "li",
              { class: "card row spread" },
              h(
                "a",
                { class: "tile-id", href: `#/market/${encodeURIComponent(emoji_id)}` },
                emojiText(emoji_id),
              ),
              h("span", { class: "soft small" }, `since ${when(created_at)}`),
              actionButton(
                "Forget it",
                async () => {
                  await call("DELETE", `/user_interests/${encodeURIComponent(emoji_id)}`)
                  await load()
                },
                { class: "plain" },
              ),
            ),
          ),
    )
  }
  fill(place, list)
  await load()
}

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
