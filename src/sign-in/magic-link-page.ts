import type { TwoFactorProvider } from "../../schema/accounts/user.ts"
import type { LinkPurpose } from "../accounts/login/magic-link-store.ts"
import type { Browser } from "../accounts/sessions/browser-cookies.ts"
import { homeLink } from "../web/error-page.ts"
import { html } from "../web/html.ts"
import { page } from "../web/page.ts"
import { accountName, codeForm, describedByNotice, hiddenToken, notice } from "./login-page.ts"

const useButton = (confirms: boolean) =>
  html`<button class="full" name="action" value="use" autofocus>${confirms ? "Confirm email address" : "Sign in"}</button>`

/**
 * The action of the button that removes the password, sessions and keys that were created before the address was
 * confirmed.
 */
export const discardAction = "discard"

/**
 * The form fields that ask for the password, because another person may have registered this address. The password,
 * sessions and keys created before the confirmation are kept only if the reader of the email knows the password. The
 * button that keeps them is the first one, because the Enter key presses the first button of a form. The other button
 * also works with an empty password field.
 */
const passwordChoice = (
  email: string,
  failed: string | undefined,
) => html`${notice(failed)}${accountName(email)}
<label for="password">The password you registered with</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1600" required autofocus${describedByNotice(failed)}>
<button class="full" name="action" value="password">Confirm email address</button>
<p class="soft small">If you did not register here, or lost the password, confirm the address without it. This removes the password and signs out every device. API keys stop working.</p>
<button class="plain full" name="action" value="${discardAction}" formnovalidate>Confirm and remove the password</button>`

/**
 * The page of a link. Opening the page does not use the link, because mail scanners open links too. The link is used
 * only when a button of the page is pressed.
 */
export const linkPage = (facts: {
  readonly browser: Browser
  readonly action: string
  /** The user whom the button logs in. */
  readonly userId: string
  readonly email: string
  readonly purpose: LinkPurpose | "token"
  readonly asksPassword: boolean
  /** Whether the button logs out other devices, because neither a password nor this browser proves who presses it. */
  readonly discardsCredentials: boolean
  readonly failed: string | undefined
  readonly formsLeadOut: boolean
}) => {
  const confirms = facts.purpose === "confirm"
  return page({
    title: confirms ? "Confirm your email address" : "Sign in",
    status: facts.failed === undefined ? 200 : 422,
    formsLeadOut: facts.formsLeadOut,
    headers: { "Set-Cookie": facts.browser.fresh },
    body: html`<main class="center">
<p class="emoji huge" aria-hidden="true">${confirms ? "📬" : "🔑"}</p>
<h1>${confirms ? "Confirm your email address" : "Sign in"}</h1>
<p class="soft">${facts.email}</p>
<form method="post" action="${facts.action}">
${hiddenToken(facts.browser.formToken)}<input type="hidden" name="user" value="${facts.userId}">
${facts.asksPassword ? passwordChoice(facts.email, facts.failed) : useButton(confirms)}
</form>
${
  facts.discardsCredentials &&
  html`<p class="soft small">You are not signed in here. Confirming signs out every device, and API keys stop working. To keep them, open the link in the browser where you changed the address.</p>`
}
<p class="soft small">If you did not expect this page, close it. Nothing was changed.</p>
</main>`,
  })
}

/**
 * Where the user requests another link: the page that the link led to, if it has a form for that, otherwise the
 * console.
 */
const requestPath = (next: string | undefined, form: "forgot" | "mail"): string =>
  next === undefined || next.startsWith("/#") ? `/#/sign-in/${form}` : next

/**
 * The page of a link that cannot be used. `next` is where the link led to. `form` is the form of the console for
 * another link.
 */
export const linkInvalidPage = (
  next: string | undefined,
  why = "It was already used, a newer link was opened, or it has expired. Each link works once.",
  form: "forgot" | "mail" = "mail",
) =>
  page({
    title: "This link is no longer valid",
    status: 400,
    body: html`<main class="center">
<p class="emoji huge" aria-hidden="true">⌛</p>
<h1>This link is no longer valid</h1>
<p>This is a link from an email of the Emoji Id Directory. ${why}</p>
<p class="soft">If you have used it in this browser, you are signed in already.</p>
<p><a class="button" href="${requestPath(next, form)}">Request a new link</a></p>
<p>${homeLink("plain")}</p>
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
    title: "Enter your code",
    formsLeadOut: facts.formsLeadOut,
    status: facts.failed === undefined ? 200 : 422,
    headers: { "Set-Cookie": facts.browser.fresh },
    body: html`<main><h1>Enter your code</h1>
${codeForm({ ...facts, formToken: facts.browser.formToken })}</main>`,
  })

const passwordForm = (formToken: string, email: string | null, failed: string | undefined) => html`
<form method="post" action="/magic_link/done" class="card">${hiddenToken(formToken)}${accountName(email)}
<h2 class="first">Do you want a password?</h2>${notice(failed)}
<p class="soft small">With a password you sign in without waiting for an email. You can then no longer sign in by email link.</p>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="1600" required${describedByNotice(failed)}>
<button class="full" name="action" value="password">Set password</button></form>`

export const welcomePage = (facts: {
  readonly browser: Browser
  readonly email: string | null
  readonly homeUrl: string
  readonly hasPassword: boolean
  /** Whether the email address is confirmed. A login with a refresh token from a URL does not confirm it. */
  readonly isConfirmed: boolean
  readonly failed?: string
}) =>
  page({
    title: "You are signed in",
    status: facts.failed === undefined ? 200 : 422,
    headers: { "Set-Cookie": facts.browser.fresh },
    body: html`<main><div class="center">
<p class="emoji huge" aria-hidden="true">🎉</p>
<h1>${facts.isConfirmed ? "Your address is confirmed" : "You are signed in"}</h1>
<p>${facts.email !== null && html`You are signed in as <strong>${facts.email}</strong>.`} You can close this page and continue where you started.</p>
<p><a class="button" href="${facts.homeUrl}">Go to the Emoji Id Directory</a></p></div>
${!facts.hasPassword && (facts.isConfirmed || facts.failed !== undefined) && passwordForm(facts.browser.formToken, facts.email, facts.failed)}
</main>`,
  })
