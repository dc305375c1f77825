import { actionButton, actionForm } from "../parts/actions.ts"
import { field, fill, h } from "../parts/dom.ts"
import { fieldError } from "../parts/field-error.ts"
import { notify } from "../parts/notices.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { account, signOutHere } from "../platform/session.ts"
import { readEverything } from "./export.ts"

/** Saves a text as a file of the user. */
const download = (text: string, name: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }))
  h("a", { href: url, download: name }).click()
  // The browser reads the file after the click, so its URL is released later.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

const exportCard = () => {
  const status = h("p", { class: "soft small", role: "status" })
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Download your data"),
    h(
      "p",
      { class: "soft" },
      "One JSON file with your account, emoji ids, records, orders, transfers, sessions, keys and security log. Passwords and secrets are not included.",
    ),
    actionButton(
      "Download",
      async () => {
        try {
          const text = await readEverything((part) => fill(status, `Reading: ${part} …`))
          download(text, `emoji-id-data-${new Date().toISOString().slice(0, 10)}.json`)
          fill(status, "The file was created. It contains personal data, so keep it safe.")
        } catch (error) {
          fill(status)
          throw error
        }
      },
      { sign: "download" },
    ),
    status,
  )
}

const lost = [
  "Your name, email address, password and two-factor methods",
  "Your sessions and API keys. Programs that use them stop working",
  "Your watchlist and your memberships in organizations",
  "Your security log. Download your data first if you want to keep it",
]

const mismatch = (expected: string) =>
  fieldError("confirmation", `Type ${expected} exactly, to confirm that you mean this account.`)

const deleteForm = () => {
  const { email, id } = account.value?.user ?? { id: "" }
  const expected = email ?? id
  const form = actionForm(
    {
      label: "Delete my account",
      sign: "trash-2",
      name: "Delete account",
      submit: async (values) => {
        if (values.text("confirmation").trim() !== expected) throw mismatch(expected)
        await call("DELETE /users/{id}", { params: { id } })
        // The session has ended with the account, so the service may refuse to end it again.
        await signOutHere().catch(() => {})
        location.hash = "#/lookup"
        notify("Your account was deleted.", "good")
      },
    },
    field(`Type ${expected} to confirm`, { name: "confirmation", required: true, spellcheck: "false" }),
  )
  form.querySelector("button")?.classList.add("danger")
  return form
}

const deleteCard = () =>
  h(
    "section",
    { class: "card bad-edge" },
    h("h2", {}, "Delete your account"),
    h("p", {}, "This cannot be undone. These are deleted:"),
    h(
      "ul",
      {},
      lost.map((line) => h("li", {}, line)),
    ),
    h(
      "p",
      {},
      "Your account must be empty: transfer your emoji ids to someone else first, and wait until open orders are finished. If you use two-factor authentication, you are asked for a code.",
    ),
    deleteForm(),
  )

/** The export of the user's data, and the deletion of the account. */
export const drawData: Section["draw"] = (place) => {
  fill(place, exportCard(), deleteCard())
}
