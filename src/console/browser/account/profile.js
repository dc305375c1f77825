import { outboxHint } from "../outbox.js"
import { actionButton, actionForm } from "../parts/actions.js"
import { field, fill, h } from "../parts/dom.js"
import { when, words } from "../parts/format.js"
import { notify } from "../parts/notices.js"
import { call } from "../platform/api.js"
import { account, loadAccount, replaceLogin } from "../platform/session.js"

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

const facts = ({ role, user }) => [
  h("dt", {}, "Role"),
  h("dd", {}, words(role)),
  h("dt", {}, "Free ids left"),
  h("dd", {}, user.remaining_free_emoji),
  h("dt", {}, "Member since"),
  h("dd", {}, when(user.created_at)),
]

const namesForm = () =>
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
    field("First name", { name: "first_name", maxlength: "100", autocomplete: "given-name" }),
    field("Last name", { name: "last_name", maxlength: "100", autocomplete: "family-name" }),
  )

/** A name as the account has it, unless somebody is about to change it. @param {HTMLInputElement} input @param {string} [name] */
const showName = (input, name = "") => {
  if (input.value === input.defaultValue) input.value = name
  input.defaultValue = name
}

const passwordForm = () =>
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
    // Tells a password manager whose password it is.
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
      "Leave it empty if you have none.",
    ),
    field("New password", {
      name: "password",
      type: "password",
      autocomplete: "new-password",
      required: true,
    }),
  )

export const drawProfile = (place, life) => {
  const unconfirmed = h("div", {})
  const particulars = h("dl", { class: "particulars" })
  const names = namesForm()
  fill(
    place,
    unconfirmed,
    h("section", { class: "card" }, particulars, names),
    h("section", { class: "card" }, h("h2", {}, "Password"), passwordForm()),
  )
  let waitedFor
  // The account changes while somebody types: the forms stay as they are.
  const drawUser = (current) => {
    if (current === undefined) return
    const { user } = current
    const waitsFor = user.email_verified_at === undefined ? user.email : undefined
    if (waitsFor !== waitedFor) fill(unconfirmed, confirmCard(user))
    waitedFor = waitsFor
    fill(particulars, facts(current))
    showName(names.elements.first_name, user.first_name)
    showName(names.elements.last_name, user.last_name)
  }
  life.keep(account.watch(drawUser))
}
