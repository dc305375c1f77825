import type { TwoFactorProvider } from "../../schema/accounts/user.ts"
import { type Content, type Html, html } from "../web/html.ts"

interface FormFacts {
  /** The path of this site to which the form is sent. */
  readonly action: string
  readonly formToken: string
}

export const hiddenToken = (formToken: string): Html =>
  html`<input type="hidden" name="form_token" value="${formToken}">`

export const notice = (text: string | undefined, kind: "bad" | "good" | "warn" = "bad"): Content =>
  text !== undefined &&
  html`<p class="notice ${kind}"${kind === "bad" && html` id="notice"`} role="${kind === "bad" ? "alert" : "status"}">${text}</p>`

/**
 * The attribute for the field that a notice is about. With it, screen readers read the notice together with the
 * field.
 */
export const describedByNotice = (failed: string | undefined): Content =>
  failed !== undefined && html` aria-describedby="notice"`

/** A hidden field that tells password managers which account the form is for. */
export const accountName = (email: string | null): Content =>
  email !== null &&
  html`<input class="unseen" type="email" name="username" autocomplete="username" value="${email}" readonly tabindex="-1" aria-hidden="true">`

/**
 * The login form. The user requests a link by email, or enters a password. The Enter key presses the first button of
 * a form. Therefore the first button is hidden and sends the action `enter`. For this action, the server decides by
 * the fields that were filled in.
 */
export const loginForms = (
  facts: FormFacts & { readonly email?: string; readonly failed?: string },
): Html => html`
${notice(facts.failed)}
<form method="post" action="${facts.action}" class="card" data-human>
${hiddenToken(facts.formToken)}
<button class="unseen" name="action" value="enter" tabindex="-1" aria-hidden="true"></button>
<label for="email">Your email address</label>
<input id="email" name="email" type="email" autocomplete="email" inputmode="email" maxlength="320" required value="${facts.email}">
<p class="soft small">We email you a link that signs you in. The link works once.</p>
<button class="full" name="action" value="link">Email me a link</button>
<details${facts.failed !== undefined && html` open`}>
<summary>I have a password</summary>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1600"${describedByNotice(facts.failed)}>
<button class="plain full" name="action" value="password">Sign in with password</button>
<p class="center"><button class="link" name="action" value="reset">Forgot password?</button></p>
</details>
</form>`

export const codeForm = (
  facts: FormFacts & { readonly provider: TwoFactorProvider | undefined; readonly failed?: string },
): Html => html`
${notice(facts.failed)}
<form method="post" action="${facts.action}" class="card">
${hiddenToken(facts.formToken)}
<label for="code">${facts.provider === "SMS" ? "Code from the SMS we sent you" : "Code from your authenticator app"}</label>
<input id="code" name="code" class="code" autocomplete="one-time-code" maxlength="32" required autofocus${describedByNotice(facts.failed)}>
<p class="soft small">You can also enter a backup code.</p>
<button class="full" name="action" value="code">Continue</button>
</form>
<form method="post" action="${facts.action}" class="row">
${hiddenToken(facts.formToken)}
${facts.provider === "SMS" && html`<button class="plain" name="action" value="sms">Send the code again</button>`}
<button class="plain" name="action" value="leave">Use another account</button>
</form>`

export const loggedInAs = (facts: FormFacts & { readonly email: string | null }): Html => html`
<form method="post" action="${facts.action}" class="who">
${hiddenToken(facts.formToken)}
<span class="soft">${facts.email === null ? "You are signed in" : html`Signed in as <strong>${facts.email}</strong>`}</span>
<button class="link" name="action" value="leave">Use another account</button>
</form>`
