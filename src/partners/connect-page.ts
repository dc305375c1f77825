import { loggedInAs, notice } from "../sign-in/login-page.ts"
import { html } from "../web/html.ts"
import { bigId, idButton, spokenName } from "../web/id-tile.ts"
import { abortForm, addressList, flowForm, partnerPage, type Visitor } from "./page-shell.ts"

interface Owner {
  readonly email: string | null
  readonly ids: ReadonlyArray<string>
  /** True if the user is identified only by the partner's token, and not by a login on this site. */
  readonly isPartnersUser: boolean
}

/** Shows the current user and how to use another account. */
const accountLine = (visitor: Visitor, { email, isPartnersUser }: Owner) =>
  isPartnersUser
    ? html`<p class="soft">You are using your ${visitor.partner.name} account. <a href="${visitor.home}?login">Use another account</a></p>`
    : loggedInAs({ action: visitor.home, formToken: visitor.browser.formToken, email })

export const pickPage = (visitor: Visitor, owner: Owner, failed?: string) =>
  partnerPage(visitor, {
    title: "Connect your emoji id",
    status: failed === undefined ? 200 : 422,
    body: html`<h1>Choose the emoji id to connect</h1>
${notice(failed)}
${accountLine(visitor, owner)}
${
  owner.ids.length === 0
    ? html`<div class="card center"><p class="emoji huge" aria-hidden="true">🌱</p><p>This account has no emoji id.</p><p class="soft">Use another account, or return to ${visitor.partner.name} and get an emoji id.</p></div>`
    : html`<form method="get" action="${visitor.home}"><div class="tiles">${owner.ids.map((id) => idButton("id", id, spokenName(id)))}</div></form>`
}
${abortForm(visitor)}`,
  })

/** Explains what happens when the id is connected, and asks the user to confirm it. */
export const confirmPage = (visitor: Visitor, owner: Owner, id: string, failed?: string) =>
  partnerPage(visitor, {
    title: "Connect your emoji id",
    status: failed === undefined ? 200 : 422,
    body: html`<h1>Connect this emoji id to ${visitor.partner.name}?</h1>
${notice(failed)}
${accountLine(visitor, owner)}
<section class="card center">${bigId(id, "huge")}<p class="soft">${spokenName(id)}</p></section>
${
  visitor.visit.addresses.length === 0
    ? html`<p>${visitor.partner.name} will know that you own this emoji id. Its records do not change.</p>`
    : html`${addressList(visitor.visit.addresses, "Addresses to add to your emoji id")}
<p class="soft">They replace existing addresses of the same types. Continue only if you opened this page from ${visitor.partner.name} yourself.</p>`
}
${flowForm(visitor, html`<input type="hidden" name="emoji_id" value="${id}"><button class="full" name="action" value="connect">Connect ${id}</button>`)}
${owner.ids.length > 1 && html`<p><a href="${visitor.home}?pick">Choose another emoji id</a></p>`}
${abortForm(visitor)}`,
  })
