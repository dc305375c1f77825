import { actionForm, confirmButton } from "../parts/actions.js"
import { badge, field, fill, h, tick } from "../parts/dom.js"
import { counted, when } from "../parts/format.js"
import { call, get } from "../platform/api.js"
import { account } from "../platform/session.js"

const keyFacts = ({ created_at, expires_at, last_used_at, scopes }) =>
  [
    counted(scopes?.length ?? 0, "scope"),
    `created ${when(created_at)}`,
    last_used_at === undefined ? "not used yet" : `last used ${when(last_used_at)}`,
    ...(expires_at === undefined ? [] : [`expires ${when(expires_at)}`]),
  ].join(" · ")

const keyCard = (key, reload) =>
  h(
    "li",
    { class: "card row spread" },
    h(
      "span",
      {},
      h("strong", {}, key.name),
      " ",
      key.sensitive && badge("Sensitive operations", "warn"),
      h("br"),
      h("span", { class: "soft small" }, keyFacts(key)),
    ),
    confirmButton(
      "Delete",
      {
        question: `Delete the API key ${key.name}?`,
        consequence: "Applications that use this key lose access immediately.",
      },
      async () => {
        await call("DELETE", `/api_keys/${key.id}`)
        await reload()
      },
      { class: "plain" },
    ),
  )

const hasTwoFactor = () => (account.value?.user.two_factor_auth ?? []).length > 0

/**
 * The choice whether the new key may do sensitive operations. A user without two-factor login enters the password for
 * it. Users with two-factor login are asked for a code by the dialog that every sensitive operation uses.
 */
const sensitiveChoice = () => {
  const password = field(
    "Current password",
    { name: "current_password", type: "password", autocomplete: "current-password" },
    "Leave empty if you have no password.",
  )
  password.hidden = true
  const choice = tick("Allow sensitive operations", {
    name: "sensitive",
    onchange: ({ currentTarget }) => {
      password.hidden = !currentTarget.checked || hasTwoFactor()
    },
  })
  return h(
    "div",
    {},
    choice,
    h(
      "p",
      { class: "soft small" },
      "Sensitive operations are transfers, checkouts, new public keys and the deletion of the account. A key that may do them needs no two-factor code. Turning on two-factor authentication removes them from existing keys.",
    ),
    password,
  )
}

const scopeChoice = (scopes) =>
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
  )

const bodyOf = ({ current_password, name, sensitive }, form) => ({
  name,
  scopes: [...form.querySelectorAll("input[name=scope]:checked")].map(({ value }) => value),
  ...(sensitive === "on" ? { sensitive: true } : {}),
  ...(sensitive === "on" && current_password !== "" ? { current_password } : {}),
})

export const drawKeys = async (place) => {
  const list = h("ul", { class: "plain-list" })
  const made = h("div", { "aria-live": "polite" })
  const load = async () => {
    const keys = await get("/api_keys")
    fill(
      list,
      keys.length === 0
        ? h("li", { class: "soft" }, "No API keys yet.")
        : keys.map((key) => keyCard(key, load)),
    )
  }
  const sensitive = h("div", {}, sensitiveChoice())
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
          submit: async (values, form) => {
            const key = await call("POST", "/api_keys", bodyOf(values, form))
            form.reset()
            fill(sensitive, sensitiveChoice())
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
        scopeChoice(account.value?.global_scopes ?? []),
        sensitive,
      ),
    ),
  )
  await load()
}
