import type { Browser } from "../accounts/sessions/browser-cookies.ts"
import { homeLink } from "../web/error-page.ts"
import { html } from "../web/html.ts"
import { page } from "../web/page.ts"
import { accountName, describedByNotice, hiddenToken, notice } from "./login-page.ts"

interface Shown {
  readonly browser: Browser
  readonly failed?: string
}

const statusOf = ({ failed }: Shown) => (failed === undefined ? 200 : 422)

/** Asks for the email address that gets the link. */
export const requestResetPage = (shown: Shown & { readonly email?: string }) =>
  page({
    title: "Reset your password",
    status: statusOf(shown),
    headers: { "Set-Cookie": shown.browser.fresh },
    body: html`<main><p class="eyebrow">Emoji Id Directory</p>
<h1>Reset your password</h1>
${notice(shown.failed)}
<form method="post" action="/password_reset" class="card" data-human>
${hiddenToken(shown.browser.formToken)}
<label for="email">Your email address</label>
<input id="email" name="email" type="email" autocomplete="email" inputmode="email" maxlength="320" required autofocus value="${shown.email}"${describedByNotice(shown.failed)}>
<p class="soft small">We email you a link. With it you choose a new password.</p>
<button class="full">Email me a link</button>
</form></main>`,
  })

/** The page after a link was requested. It is the same for every address. */
export const resetSentPage = (email: string) =>
  page({
    title: "Check your email",
    body: html`<main class="center"><p class="emoji huge" aria-hidden="true">📬</p>
<h1>Check your email</h1>
<p>If <strong>${email}</strong> belongs to an account, we sent a link to it. The link works once.</p>
<p class="soft">If you received no email, <a href="/password_reset">request another link</a>.</p>
<p>${homeLink("plain")}</p></main>`,
  })

/** Asks for the new password. Opening this page does not use the link up. */
export const newPasswordPage = (
  shown: Shown & { readonly action: string; readonly email: string; readonly formsLeadOut: boolean },
) =>
  page({
    title: "Choose a new password",
    status: statusOf(shown),
    formsLeadOut: shown.formsLeadOut,
    headers: { "Set-Cookie": shown.browser.fresh },
    body: html`<main><div class="center"><p class="emoji huge" aria-hidden="true">🔑</p>
<h1>Choose a new password</h1>
<p class="soft">${shown.email}</p></div>
<form method="post" action="${shown.action}" class="card">
${hiddenToken(shown.browser.formToken)}${accountName(shown.email)}
${notice(shown.failed)}
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="1600" required autofocus${describedByNotice(shown.failed)}>
<p class="soft small">All devices are signed out. API keys continue to work; delete those that you do not know.</p>
<button class="full">Set new password</button>
</form>
<p class="soft small center">If you did not request this, close the page. Your password stays as it is.</p></main>`,
  })

export const resetDonePage = (homeUrl: string) =>
  page({
    title: "Your password was changed",
    body: html`<main class="center"><p class="emoji huge" aria-hidden="true">🎉</p>
<h1>Your password was changed</h1>
<p>You are signed in here. All other devices were signed out.</p>
<p><a class="button" href="${homeUrl}">Go to the Emoji Id Directory</a></p></main>`,
  })
