import type { TwoFactorProvider } from "../../schema/accounts/user.ts"
import type { Browser } from "../accounts/sessions/browser-cookies.ts"
import { homeLink } from "../web/error-page.ts"
import { type Html, html } from "../web/html.ts"
import { bigId, idButton, spokenName } from "../web/id-tile.ts"
import { page } from "../web/page.ts"
import { codeForm, hiddenToken, loggedInAs, loginForms, notice } from "./login-page.ts"
import type { AuthorizationRequest } from "./oauth/authorization-request.ts"

interface Shown {
  readonly request: AuthorizationRequest
  readonly browser: Browser
  readonly failed?: string
  readonly status?: number
}

export const authorizePath = (request: AuthorizationRequest): string =>
  `/authorize?${new URLSearchParams(request.parameters)}`

const show = ({ browser, status }: Shown, title: string, body: Html) =>
  page({
    title,
    status: status ?? 200,
    formsLeadOut: true,
    headers: { "Set-Cookie": browser.fresh },
    body: html`<main>${body}</main>`,
  })

const formOf = ({ browser, failed, request }: Shown) => ({
  action: authorizePath(request),
  formToken: browser.formToken,
  ...(failed === undefined ? {} : { failed }),
})

const denyForm = (shown: Shown): Html => html`
<form method="post" action="${authorizePath(shown.request)}" class="row">
${hiddenToken(shown.browser.formToken)}
<button class="quiet" name="action" value="deny">Cancel and go back to ${shown.request.client.name}</button>
</form>`

export const loginPage = (shown: Shown & { readonly email?: string }) =>
  show(
    shown,
    `Sign in to ${shown.request.client.name}`,
    html`<p class="eyebrow">Emoji Id Directory</p>
<h1>Sign in to ${shown.request.client.name} with your emoji id</h1>
${loginForms({ ...formOf(shown), ...(shown.email === undefined ? {} : { email: shown.email }) })}
${denyForm(shown)}`,
  )

export const codePage = (shown: Shown & { readonly provider: TwoFactorProvider | undefined }) =>
  show(
    shown,
    "Enter your code",
    html`<p class="eyebrow">Emoji Id Directory</p>
<h1>Enter your code</h1>
${codeForm({ ...formOf(shown), provider: shown.provider })}`,
  )

/** Lists the user's emoji ids. Pressing one sends the application an authorization code for that id. */
export const selectorPage = (
  shown: Shown & {
    readonly email: string | null
    readonly ids: ReadonlyArray<string>
    readonly wanted: string | undefined
  },
) => {
  const { client } = shown.request
  const others = shown.ids.filter((id) => id !== shown.wanted)
  return show(
    shown,
    `Choose an emoji id for ${client.name}`,
    html`<p class="eyebrow">Emoji Id Directory</p>
<h1>Choose an emoji id for ${client.name}</h1>
<p>${client.name} receives the emoji id that you choose and your account number. With this number it can see that two emoji ids belong to the same account. It receives no other data about you.</p>
${notice(shown.failed)}
${loggedInAs({ ...formOf(shown), email: shown.email })}
<form method="post" action="${authorizePath(shown.request)}">
${hiddenToken(shown.browser.formToken)}
<input type="hidden" name="action" value="select">
${
  shown.wanted !== undefined &&
  html`<div class="card center">${bigId(shown.wanted, "huge")}
<button class="full" name="emoji_id" value="${shown.wanted}" aria-label="Continue as ${spokenName(shown.wanted)}">Continue as ${shown.wanted}</button></div>
${others.length > 0 && html`<h2>Or choose another emoji id</h2>`}`
}
<div class="tiles">${others.map((id) => idButton("emoji_id", id, spokenName(id)))}</div>
</form>
${denyForm(shown)}`,
  )
}

export const noIdsPage = (shown: Shown & { readonly email: string | null; readonly shopUrl: string }) =>
  show(
    shown,
    "You have no emoji id yet",
    html`<p class="eyebrow">Emoji Id Directory</p>
<h1>You have no emoji id yet</h1>
${loggedInAs({ ...formOf(shown), email: shown.email })}
<div class="card"><p class="emoji huge center" aria-hidden="true">🌱</p>
<p>${shown.request.client.name} identifies you by an emoji id: one to six emoji that only you own.</p>
<ol><li>Search for an emoji id and add it to your cart.</li><li>Check out. The first emoji id may be free.</li><li>Return to this page and reload it.</li></ol>
<p><a class="button full" href="${shown.shopUrl}">Search for an emoji id</a></p></div>
${denyForm(shown)}`,
  )

/**
 * The error page for a request that cannot be read, or whose client or redirect_uri is not registered. There is no
 * redirect, because the browser must not be sent to an unregistered address.
 */
export const untrustedPage = (error: string) =>
  page({
    title: "This sign-in cannot continue",
    status: 400,
    body: html`<main class="center"><p class="emoji huge" aria-hidden="true">🛑</p>
<h1>This sign-in cannot continue</h1>
<p>${error}</p>
<p class="soft">No data was shared. If you trust the application that sent you here, inform its developers that the <code>client_id</code> or <code>redirect_uri</code> of their request does not match the registered values.</p>
<p>${homeLink()}</p></main>`,
  })
