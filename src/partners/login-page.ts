import type { BrowserSession } from "../accounts/sessions/browser-sessions.ts"
import { codeForm, loginForms, notice } from "../sign-in/login-page.ts"
import { html } from "../web/html.ts"
import { abortForm, partnerPage, type Visitor } from "./page-shell.ts"

const purposes = {
  get: "Sign in to get your emoji id",
  connect: "Sign in to connect your emoji id",
  manage: "Sign in to manage your emoji ids",
} as const

/** Why the user has to log in although the partner sent a refresh token. */
const loginProblem = ({ partner, visit }: Visitor): string | undefined => {
  if (visit.loginProblem === undefined) return undefined
  const what =
    visit.loginProblem === "ended" ? "has expired or was replaced" : "still needs a two-factor code"
  return `The sign-in that ${partner.name} sent ${what}. Sign in to continue, or go back to ${partner.name} and open the link again.`
}

export const partnerLoginPage = (
  visitor: Visitor,
  facts: { readonly failed?: string; readonly email?: string } = {},
) =>
  partnerPage(visitor, {
    title: purposes[visitor.flow],
    status: facts.failed === undefined ? 200 : 422,
    body: html`<h1>${purposes[visitor.flow]}</h1>
<p>${visitor.flow === "connect" && html`Sign in to the account that owns your emoji id. `}Your email address is not shared with ${visitor.partner.name}.</p>
${facts.failed === undefined && notice(loginProblem(visitor), "warn")}
${loginForms({ action: visitor.home, formToken: visitor.browser.formToken, ...facts })}
${abortForm(visitor)}`,
  })

export const partnerCodePage = (visitor: Visitor, session: BrowserSession, failed?: string) =>
  partnerPage(visitor, {
    title: "Enter your code",
    status: failed === undefined ? 200 : 422,
    body: html`<h1>Enter your code</h1>
${codeForm({
  action: visitor.home,
  formToken: visitor.browser.formToken,
  provider: session.account.providers[0],
  ...(failed === undefined ? {} : { failed }),
})}`,
  })

/** The page after a login link or a link for a new password was requested. It is the same for every address. */
export const mailSentPage = (
  visitor: Visitor,
  { email, what }: { readonly email: string; readonly what: "login" | "reset" },
) =>
  partnerPage(visitor, {
    title: "Check your email",
    body: html`<div class="center"><p class="emoji huge" aria-hidden="true">📬</p>
<h1>Check your email</h1>
<p>If <strong>${email}</strong> belongs to an account${what === "login" && " that can sign in by email link"}, we sent a link to it.</p>
<p class="soft">Open the link in this browser to continue. If you received no email, <a href="${visitor.home}">request another link</a>${what === "login" && " or sign in with your password"}.</p></div>`,
  })
