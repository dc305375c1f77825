import type { OauthClient } from "../../../client/api-types.ts"
import { actionForm, confirmButton } from "../parts/actions.ts"
import { empty, field, fill, h } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { textArea } from "../records/record-fields.ts"
import { copyButton, secretCard } from "./secret.ts"

const uriHint =
  "One per line. After the sign-in, users return only to one of these addresses. Each starts with https://, except on localhost."

/** Reads one address per line. */
const readUris = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)

const changeForm = ({ client_id, name, redirect_uris }: OauthClient, again: () => Promise<void>) =>
  actionForm(
    {
      label: "Save",
      name: `Change ${name}`,
      submit: async (values) => {
        await call("PATCH /oauth_clients/{client_id}", {
          params: { client_id },
          body: { name: values.text("name"), redirect_uris: readUris(values.text("redirect_uris")) },
        })
        notify(`${name} was changed.`, "good")
        await again()
      },
    },
    field("Name", { name: "name", maxlength: "200", required: true, value: name }),
    textArea("Redirect addresses", "redirect_uris", redirect_uris.join("\n"), uriHint),
  )

const card = (client: OauthClient, again: () => Promise<void>, showSecret: (secret: string) => void) => {
  const { client_id, created_at, name, redirect_uris } = client
  return h(
    "li",
    { class: "card" },
    h("strong", {}, name),
    h("p", { class: "soft small" }, `Created ${when(created_at)}`),
    h("p", { class: "row" }, "Client id ", h("code", {}, client_id), copyButton(client_id, "The client id")),
    h(
      "ul",
      { class: "small" },
      redirect_uris.map((uri) => h("li", {}, h("code", {}, uri))),
    ),
    h("details", {}, h("summary", {}, "Change name and redirect addresses"), changeForm(client, again)),
    h(
      "div",
      { class: "row" },
      confirmButton(
        "New secret",
        {
          question: `Create a new secret for ${name}?`,
          consequence:
            "The old secret stops working immediately. Sign-ins fail until the application has the new one.",
        },
        async () => {
          const made = await call("POST /oauth_clients/{client_id}/secret", { params: { client_id } })
          showSecret(made.client_secret)
        },
        { class: "plain", sign: "refresh-cw", "aria-label": `New secret for ${name}` },
      ),
      confirmButton(
        "Delete",
        {
          question: `Delete ${name}?`,
          consequence:
            "Its users can no longer sign in with it, and the access that they gave to it ends immediately.",
        },
        async () => {
          await call("DELETE /oauth_clients/{client_id}", { params: { client_id } })
          notify(`${name} was deleted.`, "good")
          await again()
        },
        { class: "plain", sign: "trash-2", "aria-label": `Delete ${name}` },
      ),
    ),
  )
}

/** The applications that sign users in. Only operators may register them. */
export const drawRegistered: Section["draw"] = async (place) => {
  const list = h("ul", { class: "plain-list", "aria-label": "Applications" })
  const made = h("div", { "aria-live": "polite" })
  const showSecret = (secret: string): void => {
    fill(made, secretCard("The client secret", secret))
    made.scrollIntoView({ block: "center" })
  }
  const load = async (): Promise<void> => {
    const clients = await call("GET /oauth_clients", { query: { limit: 200 } })
    fill(
      list,
      clients.length === 0
        ? h("li", {}, empty("🧩", "No applications are registered."))
        : clients.map((client) => card(client, load, showSecret)),
    )
  }
  fill(
    place,
    h("p", { class: "soft" }, "Applications that let people sign in with an emoji id (OAuth)."),
    made,
    list,
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Register an application"),
      actionForm(
        {
          label: "Register",
          sign: "plus",
          name: "New application",
          submit: async (values, form) => {
            const body = { name: values.text("name"), redirect_uris: readUris(values.text("redirect_uris")) }
            const client = await call("POST /oauth_clients", { body })
            form.reset()
            showSecret(client.client_secret)
            await load()
          },
        },
        field("Name", { name: "name", maxlength: "200", required: true }, "Users see it when they sign in."),
        textArea("Redirect addresses", "redirect_uris", "", uriHint),
      ),
    ),
  )
  await load()
}
