import type { TwoFactorProvider } from "../../schema/accounts/user.ts"
import type { LinkPurpose } from "../accounts/login/magic-link-store.ts"
import type { Browser } from "../accounts/sessions/browser-cookies.ts"
import { html } from "../web/html.ts"
import { page } from "../web/page.ts"
import { accountName, codeForm, hiddenToken, notice, toldBy } from "./login-page.ts"

const useButton = (confirms: boolean) =>
  html`<button class="full" name="action" value="use" autofocus>${confirms ? "Yes, it is mine" : "Log me in"}</button>`

/** The value of the one button that removes the password, sessions and keys set up before the address was confirmed. */
export const discardAction = "discard"

/**
 * A stranger may have registered the address, so only the password keeps what was set up with it. The button that keeps it
 * comes first: Enter in the field presses the first button of a form. The other one skips the check for an empty field.
 */
const passwordChoice = (
  email: string,
  failed: string | undefined,
) => html`${notice(failed)}${accountName(email)}
<label for="password">The password you registered with</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1600" required autofocus${toldBy(failed)}>
<button class="full" name="action" value="password">Confirm the address</button>
<p class="soft small">Did you not register here, or is the password lost? Then confirm the address without it: the password is removed, every device is logged out and API keys stop working.</p>
<button class="plain full" name="action" value="${discardAction}" formnovalidate>Confirm and remove the password</button>`

/** Opening a link does nothing yet: whoever scans mail opens them too. */
export const linkPage = (facts: {
  readonly browser: Browser
  readonly action: string
  /** Whom the button logs in. */
  readonly userId: string
  readonly email: string
  readonly purpose: LinkPurpose | "token"
  readonly asksPassword: boolean
  readonly failed: string | undefined
  readonly formsLeadOut: boolean
}) => {
  const confirms = facts.purpose === "confirm"
  return page({
    title: confirms ? "Confirm your address" : "Log in",
    status: facts.failed === undefined ? 200 : 422,
    formsLeadOut: facts.formsLeadOut,
    headers: { "Set-Cookie": facts.browser.fresh },
    body: html`<main class="center">
<p class="emoji huge" aria-hidden="true">${confirms ? "📬" : "🔑"}</p>
<h1>${confirms ? "Confirm that this address is yours" : "Log in"}</h1>
<p class="soft">${facts.email}</p>
<form method="post" action="${facts.action}">
${hiddenToken(facts.browser.formToken)}<input type="hidden" name="user" value="${facts.userId}">
${facts.asksPassword ? passwordChoice(facts.email, facts.failed) : useButton(confirms)}
</form>
<p class="soft small">If you did not ask for this, close this page: nothing has happened.</p>
</main>`,
  })
}

export const linkSpentPage = (
  again: string | undefined,
  why = "It was used before, a newer one was opened, or its time is over. Links work once.",
) =>
  page({
    title: "This link is spent",
    status: 400,
    body: html`<main class="center">
<p class="emoji huge" aria-hidden="true">⌛</p>
<h1>This link does not work any more</h1>
<p>${why}</p>
${again !== undefined && html`<p><a class="button" href="${again}">Ask for a new one</a></p>`}
</main>`,
  })

export const linkCodePage = (facts: {
  readonly browser: Browser
  readonly action: string
  readonly provider: TwoFactorProvider | undefined
  readonly failed?: string
  readonly formsLeadOut: boolean
}) =>
  page({
    title: "Your code",
    formsLeadOut: facts.formsLeadOut,
    status: facts.failed === undefined ? 200 : 422,
    headers: { "Set-Cookie": facts.browser.fresh },
    body: html`<main><h1>One more step</h1>
${codeForm({ ...facts, formToken: facts.browser.formToken })}</main>`,
  })

const passwordForm = (formToken: string, email: string | null, failed: string | undefined) => html`
<form method="post" action="/magic_link/done" class="card">${hiddenToken(formToken)}${accountName(email)}
<h2 class="first">Do you want a password?</h2>${notice(failed)}
<p class="soft small">With one you log in without waiting for mail, and links are not mailed to you any more.</p>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="1600" required${toldBy(failed)}>
<button class="full" name="action" value="password">Set it</button></form>`

export const welcomePage = (facts: {
  readonly browser: Browser
  readonly email: string | null
  readonly homeUrl: string
  readonly hasPassword: boolean
  /** Not by a login that was handed over. */
  readonly isConfirmed: boolean
  readonly failed?: string
}) =>
  page({
    title: "You are logged in",
    status: facts.failed === undefined ? 200 : 422,
    headers: { "Set-Cookie": facts.browser.fresh },
    body: html`<main><div class="center">
<p class="emoji huge" aria-hidden="true">🎉</p>
<h1>${facts.isConfirmed ? "Your address is confirmed" : "You are logged in"}</h1>
<p>${facts.email !== null && html`You are <strong>${facts.email}</strong>.`} You may close this page and go on where you were.</p>
<p><a class="button" href="${facts.homeUrl}">Go to the directory</a></p></div>
${!facts.hasPassword && (facts.isConfirmed || facts.failed !== undefined) && passwordForm(facts.browser.formToken, facts.email, facts.failed)}
</main>`,
  })
