import type { CurrentUser } from "../../../client/api-types.ts"
import { outboxHint } from "../outbox.ts"
import { actionButton, actionForm } from "../parts/actions.ts"
import { field, fill, h, tick } from "../parts/dom.ts"
import { when, words } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { account, loadAccount } from "../platform/session.ts"
import { copyButton } from "./secret.ts"

const confirmCard = (email: string) =>
  h(
    "section",
    { class: "card" },
    h("h2", {}, "Confirm your email address"),
    h(
      "p",
      {},
      "You need a confirmed email address to buy ids and to receive transfers. Open the link that was sent to ",
      h("strong", {}, email),
      ".",
    ),
    actionButton(
      "Resend email",
      async () => {
        await call("POST /auth/magic_link", { body: { email } })
        notify("A new link was sent by email.")
      },
      { sign: "mail", class: "plain" },
    ),
    outboxHint({
      to: email,
      kind: "confirm_email",
      label: "Confirm from outbox",
      take: async ({ link }) => {
        const token = new URL(link ?? "").searchParams.get("refresh_token") ?? ""
        await call("POST /auth/magic_link/consume", { body: { token } })
        await loadAccount()
        notify("Your email address is confirmed.", "good")
      },
    }),
  )

const facts = ({ role, user }: CurrentUser) => [
  h("dt", {}, "Role"),
  h("dd", {}, words(role)),
  h("dt", {}, "Free ids left"),
  h("dd", {}, user.remaining_free_emoji),
  h("dt", {}, "Account number"),
  h("dd", {}, h("code", {}, user.id), " ", copyButton(user.id, "The account number")),
  h("dt", {}, "Member since"),
  h("dd", {}, when(user.created_at)),
]

const namesForm = () =>
  actionForm(
    {
      label: "Save",
      name: "Names",
      submit: async (values) => {
        const body = { first_name: values.text("first_name"), last_name: values.text("last_name") }
        await call("PATCH /account", { body })
        await loadAccount()
        notify("Saved.", "good")
      },
    },
    field("First name", { name: "first_name", maxlength: "100", autocomplete: "given-name" }),
    field("Last name", { name: "last_name", maxlength: "100", autocomplete: "family-name" }),
  )

/** Shows the stored name, unless the user is editing the field. */
const showName = (input: HTMLInputElement, name = ""): void => {
  if (input.value === input.defaultValue) input.value = name
  input.defaultValue = name
}

const passwordForm = () =>
  actionForm(
    {
      label: "Change password",
      name: "Password",
      submit: async (values, form) => {
        const current_password = values.text("current_password")
        const revokesKeys = values.isTicked("revoke_api_keys")
        const body = {
          password: values.text("password"),
          ...(current_password === "" ? {} : { current_password }),
          ...(revokesKeys ? { revoke_api_keys: true } : {}),
        }
        await call("PATCH /account", { body })
        form.reset()
        notify(
          revokesKeys
            ? "Your password was changed. All other sessions were signed out, and your API keys were deleted."
            : "Your password was changed. All other sessions were signed out. API keys still work.",
          "good",
        )
      },
    },
    // This hidden field lets a password manager find the account that the password belongs to.
    h("input", {
      class: "unseen",
      type: "email",
      autocomplete: "username",
      value: account.value?.user.email ?? "",
      readonly: true,
      tabindex: "-1",
      "aria-hidden": "true",
    }),
    field(
      "Current password",
      { name: "current_password", type: "password", autocomplete: "current-password" },
      "Leave empty if you have no password.",
    ),
    field("New password", {
      name: "password",
      type: "password",
      autocomplete: "new-password",
      required: true,
    }),
    tick("Also delete all API keys", { name: "revoke_api_keys" }),
  )

export const drawProfile: Section["draw"] = (place, lifetime) => {
  const unconfirmed = h("div", {})
  const particulars = h("dl", { class: "particulars" })
  const names = namesForm()
  fill(
    place,
    unconfirmed,
    h("section", { class: "card" }, particulars, names),
    h("section", { class: "card" }, h("h2", {}, "Password"), passwordForm()),
  )
  let shownUnconfirmed: string | undefined
  // Only the changed parts are updated. The forms are not redrawn, because the account may change while the user
  // types.
  const nameInput = (name: string) => names.querySelector<HTMLInputElement>(`[name="${name}"]`)!
  const drawUser = (current: CurrentUser | undefined): void => {
    if (current === undefined) return
    const { user } = current
    const unconfirmedEmail = user.email_verified_at === undefined ? user.email : undefined
    if (unconfirmedEmail !== shownUnconfirmed)
      fill(unconfirmed, unconfirmedEmail !== undefined && confirmCard(unconfirmedEmail))
    shownUnconfirmed = unconfirmedEmail
    fill(particulars, facts(current))
    showName(nameInput("first_name"), user.first_name)
    showName(nameInput("last_name"), user.last_name)
  }
  lifetime.onEnd(account.watch(drawUser))
}
