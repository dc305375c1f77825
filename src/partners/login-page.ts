import type { BrowserSession } from "../accounts/sessions/browser-sessions.ts"
import { codeForm, loginForms } from "../sign-in/login-page.ts"
import { html } from "../web/html.ts"
import { abortForm, partnerPage, type Visitor } from "./page-shell.ts"

const purposes = {
  get: "Log in to get your emoji id",
  connect: "Connect an emoji id you have",
  manage: "Log in to manage your emoji ids",
} as const

export const guestLoginPage = (
  guest: Visitor,
  facts: { readonly failed?: string; readonly email?: string } = {},
) =>
  partnerPage(guest, {
    title: purposes[guest.flow],
    status: facts.failed === undefined ? 200 : 422,
    body: html`<h1>${purposes[guest.flow]}</h1>
<p>${guest.flow === "connect" && html`Log in with the address your id was bought with. `}Your mail stays with us; ${guest.partner.name} does not learn it.</p>
${loginForms({ action: guest.home, formToken: guest.browser.formToken, ...facts })}
${abortForm(guest)}`,
  })

export const guestCodePage = (guest: Visitor, session: BrowserSession, failed?: string) =>
  partnerPage(guest, {
    title: "Your code",
    status: failed === undefined ? 200 : 422,
    body: html`<h1>One more step</h1>
${codeForm({
  action: guest.home,
  formToken: guest.browser.formToken,
  provider: session.account.providers[0],
  ...(failed === undefined ? {} : { failed }),
})}`,
  })

export const mailSentPage = (guest: Visitor, email: string) =>
  partnerPage(guest, {
    title: "Look into your mail",
    body: html`<div class="center"><p class="emoji huge" aria-hidden="true">📬</p>
<h1>Look into your mail</h1>
<p>If <strong>${email}</strong> belongs to somebody who logs in by mail, a link is on its way.</p>
<p class="soft">Open it in this browser, then you go on from here. Has it not come? <a href="${guest.home}">Ask again</a>, or log in with your password.</p></div>`,
  })
