import { loggedInAs, notice } from "../sign-in/login-page.ts"
import { html } from "../web/html.ts"
import { bigId, idButton, spokenName } from "../web/id-tile.ts"
import { abortForm, addressList, guestForm, partnerPage, type Visitor } from "./page-shell.ts"

interface Owner {
  readonly email: string | null
  readonly ids: ReadonlyArray<string>
  /** Known by the partner's token alone. */
  readonly isPartnersUser: boolean
}

/** The partner's own user is not logged in here; who has another account logs in. */
const who = (guest: Visitor, { email, isPartnersUser }: Owner) =>
  isPartnersUser
    ? html`<p class="soft">You are here as your ${guest.partner.name} user. <a href="${guest.home}?login">My id is in another account</a></p>`
    : loggedInAs({ action: guest.home, formToken: guest.browser.formToken, email })

export const pickPage = (guest: Visitor, owner: Owner, failed?: string) =>
  partnerPage(guest, {
    title: "Connect your emoji id",
    status: failed === undefined ? 200 : 422,
    body: html`<h1>Which id do you connect?</h1>
${notice(failed)}
${who(guest, owner)}
${
  owner.ids.length === 0
    ? html`<div class="card center"><p class="emoji huge" aria-hidden="true">🌱</p><p>This account has no emoji id.</p><p class="soft">Log in with another address, or go back to ${guest.partner.name} and get one.</p></div>`
    : html`<form method="get" action="${guest.home}"><div class="tiles">${owner.ids.map((id) => idButton("id", id, spokenName(id)))}</div></form>`
}
${abortForm(guest)}`,
  })

/** What connecting does, before it is done. */
export const confirmPage = (guest: Visitor, owner: Owner, id: string, failed?: string) =>
  partnerPage(guest, {
    title: "Connect your emoji id",
    status: failed === undefined ? 200 : 422,
    body: html`<h1>Connect it to ${guest.partner.name}?</h1>
${notice(failed)}
${who(guest, owner)}
<section class="card center">${bigId(id, "huge")}<p class="soft">${spokenName(id)}</p></section>
${
  guest.visit.addresses.length === 0
    ? html`<p>${guest.partner.name} learns that this id is yours. Its records stay as they are.</p>`
    : html`${addressList(guest.visit.addresses, "Your id will lead to")}
<p class="soft">An address your id has for one of these is replaced. Go on only if you came here from ${guest.partner.name} yourself.</p>`
}
${guestForm(guest, html`<input type="hidden" name="emoji_id" value="${id}"><button class="full" name="action" value="connect">Connect ${id}</button>`)}
${owner.ids.length > 1 && html`<p><a href="${guest.home}?pick">Choose another</a></p>`}
${abortForm(guest)}`,
  })
