import { Effect } from "effect"
import { type Browser, BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import type { BrowserSession } from "../accounts/sessions/browser-sessions.ts"
import { AppConfig } from "../config/config.ts"
import type { Form } from "../http/request/form.ts"
import { logInByCode, logInByPassword, mailLink, sendCodeAgain } from "./browser-login.ts"

/** What a login form led to. `cookie` is to be set; the page is then shown again. */
export type LoginStep =
  | { readonly kind: "mailed"; readonly email: string }
  | { readonly kind: "shown_again"; readonly cookie?: string }

/** Who presses Enter and has typed a password means to log in with it. */
const actionOf = ({ action, password = "" }: Form) =>
  action === "enter" ? (password === "" ? "link" : "password") : action

/** Takes what login pages send; undefined when the form is about something else. */
export const takeLoginForm = Effect.fnUntraced(function* (
  form: Form,
  browser: Browser,
  session: BrowserSession | undefined,
  link: { readonly parameters: Readonly<Record<string, string>>; readonly site: "auth" | "web" },
) {
  const browsers = yield* BrowserCookies
  const { refreshTokenSeconds } = yield* AppConfig
  const keep = ({ refresh_token }: { readonly refresh_token: string }): LoginStep => ({
    kind: "shown_again",
    cookie: browsers.cookie("session", refresh_token, refreshTokenSeconds),
  })
  switch (actionOf(form)) {
    case "link": {
      const email = yield* mailLink(form, link.parameters, link.site)
      return { kind: "mailed", email } satisfies LoginStep as LoginStep
    }
    case "password":
      return keep(yield* logInByPassword(form))
    case "code":
      return keep(yield* logInByCode(browser.sessionToken ?? "", form))
    case "sms":
      if (session !== undefined) yield* sendCodeAgain(session).pipe(Effect.ignore)
      return { kind: "shown_again" } satisfies LoginStep as LoginStep
    case "leave":
      return { kind: "shown_again", cookie: browsers.forget("session") } satisfies LoginStep as LoginStep
    default:
      return undefined
  }
})
