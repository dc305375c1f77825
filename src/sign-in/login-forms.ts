import { Effect } from "effect"
import type { LinkSite } from "../accounts/login/magic-links.ts"
import { type Browser, BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import type { BrowserSession } from "../accounts/sessions/browser-sessions.ts"
import { AppConfig } from "../config/read-config.ts"
import type { Form } from "../http/request/form.ts"
import { logInByCode, logInByPassword, mailLink, mailReset, sendCodeAgain } from "./browser-login.ts"

/**
 * The result of a login form. For `shown_again`, the caller sets `cookie`, if there is one, and shows the page again.
 */
export type LoginStep =
  | { readonly kind: "mailed"; readonly email: string; readonly what: "login" | "reset" }
  | { readonly kind: "shown_again"; readonly cookie?: string }

/**
 * Returns the action of a form. The Enter key logs in by password if a password was typed, and requests a link
 * otherwise.
 */
const actionOf = ({ action, password = "" }: Form) =>
  action === "enter" ? (password === "" ? "link" : "password") : action

/** Handles the actions of login pages. Returns undefined if the action is not one of a login page. */
export const handleLoginForm = Effect.fnUntraced(function* (
  form: Form,
  browser: Browser,
  session: BrowserSession | undefined,
  link: { readonly parameters: Readonly<Record<string, string>>; readonly site: LinkSite },
) {
  const browsers = yield* BrowserCookies
  const { refreshTokenSeconds } = yield* AppConfig
  const withSessionCookie = ({ refresh_token }: { readonly refresh_token: string }): LoginStep => ({
    kind: "shown_again",
    cookie: browsers.cookie("session", refresh_token, refreshTokenSeconds),
  })
  switch (actionOf(form)) {
    case "link": {
      const email = yield* mailLink(form, link.parameters, link.site)
      return { kind: "mailed", email, what: "login" } satisfies LoginStep as LoginStep
    }
    case "reset": {
      const email = yield* mailReset(form, link.parameters, link.site)
      return { kind: "mailed", email, what: "reset" } satisfies LoginStep as LoginStep
    }
    case "password":
      return withSessionCookie(yield* logInByPassword(form))
    case "code":
      return withSessionCookie(yield* logInByCode(browser.sessionToken ?? "", form))
    case "sms":
      if (session !== undefined) yield* sendCodeAgain(session).pipe(Effect.ignore)
      return { kind: "shown_again" } satisfies LoginStep as LoginStep
    case "leave":
      return { kind: "shown_again", cookie: browsers.forget("session") } satisfies LoginStep as LoginStep
    default:
      return undefined
  }
})
