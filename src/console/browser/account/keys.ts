import type { CreateApiKeyBody, DisplayApiKey, Scope } from "../../../client/api-types.ts"
import { actionForm, confirmButton, type Values } from "../parts/actions.ts"
import { badge, choice, empty, field, fill, h, tick } from "../parts/dom.ts"
import { counted, when } from "../parts/format.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { serverNow } from "../platform/http.ts"
import { account } from "../platform/session.ts"
import { scopeChoice, scopeList } from "./scopes.ts"
import { secretCard } from "./secret.ts"

const keyFacts = ({ created_at, expires_at, last_used_at, scopes }: DisplayApiKey): string =>
  [
    counted(scopes?.length ?? 0, "permission"),
    `created ${when(created_at)}`,
    last_used_at === undefined ? "not used yet" : `last used ${when(last_used_at)}`,
    ...(expires_at === undefined ? [] : [`expires ${when(expires_at)}`]),
  ].join(" · ")

const keyCard = (key: DisplayApiKey, reload: () => Promise<void>) =>
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
      scopeList(key.scopes),
    ),
    confirmButton(
      "Delete",
      {
        question: `Delete the API key ${key.name}?`,
        consequence: "Applications that use this key lose access immediately.",
      },
      async () => {
        await call("DELETE /api_keys/{id}", { params: { id: key.id } })
        await reload()
      },
      { class: "plain", sign: "trash-2", "aria-label": `Delete ${key.name}` },
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

const dayMs = 86_400_000
/** The day on which a key ends. It has no time of day, so that a repeated request is the same request. */
const endOf = (days: number): string =>
  new Date((Math.floor(serverNow() / dayMs) + days) * dayMs).toISOString()
const lifetimes = [
  ["90", "In 90 days"],
  ["365", "In one year"],
  ["", "Never"],
] as const

const bodyOf = (values: Values): CreateApiKeyBody => {
  const password = values.text("current_password")
  const days = values.text("lifetime")
  return {
    name: values.text("name"),
    scopes: values.all("scope") as ReadonlyArray<Scope>,
    ...(days === "" ? {} : { expires_at: endOf(Number(days)) }),
    ...(values.isTicked("sensitive") ? { sensitive: true } : {}),
    ...(values.isTicked("sensitive") && password !== "" ? { current_password: password } : {}),
  }
}

export const drawKeys: Section["draw"] = async (place) => {
  const list = h("ul", { class: "plain-list" })
  const made = h("div", { "aria-live": "polite" })
  const load = async (): Promise<void> => {
    const keys = await call("GET /api_keys")
    fill(
      list,
      keys.length === 0
        ? h("li", {}, empty("🔑", "No API keys yet. A program uses a key to act for you."))
        : keys.map((key) => keyCard(key, load)),
    )
  }
  const sensitive = h("div", {}, sensitiveChoice())
  fill(
    place,
    made,
    list,
    h(
      "section",
      { class: "card" },
      h("h2", {}, "New API key"),
      actionForm(
        {
          label: "Create key",
          sign: "plus",
          name: "New API key",
          submit: async (values, form) => {
            const key = await call("POST /api_keys", { body: bodyOf(values) })
            form.reset()
            fill(sensitive, sensitiveChoice())
            fill(made, secretCard(`The API key ${key.name}`, key.api_key))
            await load()
            // The form is long, so the key would be above the visible part of the page.
            made.scrollIntoView({ block: "center" })
          },
        },
        field("Name", { name: "name", maxlength: "100", required: true }),
        choice("Expires", "lifetime", lifetimes),
        scopeChoice(account.value?.global_scopes ?? []),
        sensitive,
      ),
    ),
  )
  await load()
}
