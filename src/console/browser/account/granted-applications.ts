import { scopeTexts } from "../../../../schema/accounts/scope-text.ts"
import type { GrantedApplication, Scope } from "../../../client/api-types.ts"
import { confirmButton } from "../parts/actions.ts"
import { emojiLine, empty, fill, h } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import type { Section } from "../parts/subnav.ts"
import { call, readGrantedApplications } from "../platform/api.ts"

/** What an application can do. Its scopes are those of a key, but its access has only the ids that the user chose. */
const permission = (scope: Scope, ids: ReadonlyArray<string>) =>
  scope === "userEmoji:list"
    ? ["See that you own ", emojiLine(ids), " and recognise your account by its number."]
    : scopeTexts[scope]

const card = (application: GrantedApplication, again: () => Promise<void>) => {
  const { client_id, emoji_ids, granted_at, last_used_at, name, scopes } = application
  return h(
    "li",
    { class: "card" },
    h(
      "div",
      { class: "row spread" },
      h(
        "div",
        {},
        h("strong", {}, name),
        h("br"),
        h(
          "span",
          { class: "soft small" },
          `Access since ${when(granted_at)} · last used ${when(last_used_at)}`,
        ),
      ),
      confirmButton(
        "Revoke access",
        {
          question: `Revoke access of ${name}?`,
          consequence: `${name} is signed out of your account immediately, and has to ask you again. It keeps what it has read before.`,
        },
        async () => {
          await call("DELETE /account/applications/{client_id}", { params: { client_id } })
          notify(`${name} no longer has access to your account.`, "good")
          await again()
        },
        { class: "plain", sign: "x", "aria-label": `Revoke access of ${name}` },
      ),
    ),
    h("p", { class: "small soft" }, "It can:"),
    h(
      "ul",
      { class: "small" },
      scopes.map((scope) => h("li", {}, permission(scope, emoji_ids))),
    ),
  )
}

/** Lists the applications that the user gave access to, and ends their access. */
export const drawGranted: Section["draw"] = async (place) => {
  const list = h("ul", { class: "plain-list", "aria-label": "Applications with access" })
  const load = async (): Promise<void> => {
    const applications = await readGrantedApplications()
    fill(
      list,
      applications.length === 0
        ? h("li", {}, empty("🧩", "No application has access to your account."))
        : applications.map((application) => card(application, load)),
    )
  }
  fill(
    place,
    h(
      "p",
      { class: "soft" },
      "Applications that you signed in to with an emoji id. Each sees only the ids that you chose for it, and cannot change or transfer them.",
    ),
    list,
    h(
      "section",
      { class: "card" },
      h("h2", {}, "What happens when you revoke access"),
      h(
        "ul",
        { class: "small" },
        h("li", {}, "The application can no longer read anything from your account, from this moment on."),
        h("li", {}, "It cannot renew its access. A sign-in that it has just started fails too."),
        h("li", {}, "It keeps what it has read before. Ask its provider to delete that."),
        h("li", {}, "If you sign in with it again, it gets access again."),
      ),
    ),
  )
  await load()
}
