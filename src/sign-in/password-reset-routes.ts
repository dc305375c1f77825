import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { Forbidden, InvalidRequest, Unprocessable } from "../../schema/errors.ts"
import { PasswordResets } from "../accounts/login/password-resets.ts"
import { type Browser, BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { AppConfig } from "../config/read-config.ts"
import { type Form, readForm } from "../http/request/form.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { formRow, pageRow } from "../web/page-route.ts"
import { mailReset } from "./browser-login.ts"
import { continueLogin, noStore } from "./continue-login.ts"
import { readLink } from "./magic-link-landing-routes.ts"
import { linkInvalidPage } from "./magic-link-page.ts"
import { landingQuery } from "./oauth/authorization-request.ts"
import { newPasswordPage, requestResetPage, resetDonePage, resetSentPage } from "./password-reset-page.ts"

const path = "/password_reset"
const donePath = `${path}/done`
const { refresh_token: _, ...continues } = landingQuery
const resetQuery = { token: Schema.optionalKey(Schema.String), ...continues }
const group = "authorization"

/** Reads the link. `code` is the page that asks for the two-factor code and then continues at `next`. */
const readReset = (search: string) =>
  Effect.map(readLink(search, path), ({ action, next, values: { token, ...rest } }) => ({
    action,
    again: next ?? path,
    token: token?.slice(0, 128),
    formsLeadOut: next !== undefined,
    paths: {
      next: next ?? donePath,
      code: `/magic_link/code?${new URLSearchParams(next === undefined ? { redirect: donePath } : rest)}`,
    },
  }))

const inspect = (token: string) => PasswordResets.use((resets) => resets.inspect(token))

const showReset = route({
  ...pageRow,
  id: "passwordReset",
  group,
  summary: "Show the form for a new password",
  description: "Without a token, the form that requests the link.",
  method: "get",
  path,
  search: resetQuery,
  limit: "login",
  errors: [InvalidRequest],
  handler: ({ headers, search }) =>
    Effect.gen(function* () {
      const browser = (yield* BrowserCookies).read(headers)
      const { action, again, formsLeadOut, token } = yield* readReset(search)
      if (token === undefined) return requestResetPage({ browser })
      const link = yield* inspect(token)
      if (link === undefined) return linkInvalidPage(again, undefined, "forgot")
      return newPasswordPage({ browser, action, email: link.email, formsLeadOut })
    }),
})

const requestLink = (form: Form, browser: Browser) =>
  mailReset(form, {}, "auth").pipe(
    Effect.map(resetSentPage),
    Effect.catchTag("LoginFailed", ({ error }) =>
      Effect.succeed(requestResetPage({ browser, failed: error, email: form["email"] ?? "" })),
    ),
  )

const useReset = route({
  ...formRow,
  id: "usePasswordReset",
  keyless: true,
  group,
  summary: "Set a new password with an emailed link",
  description: "The page of `GET /password_reset` sends this form. Without a token it mails the link.",
  path,
  search: resetQuery,
  work: "login",
  limit: "mail",
  redirects: [303],
  errors: [Forbidden, InvalidRequest, Unprocessable],
  handler: ({ headers, rawBody, search }) =>
    Effect.gen(function* () {
      const browsers = yield* BrowserCookies
      const browser = browsers.read(headers)
      const { action, again, formsLeadOut, paths, token } = yield* readReset(search)
      const form = yield* Effect.fromResult(readForm(rawBody))
      if (browsers.precedesLogin(browser, headers, form)) {
        // The button was pressed twice, or the browser logged in elsewhere after the page was shown.
        const isSpent = token !== undefined && (yield* inspect(token)) === undefined
        return Reply.redirect(isSpent ? paths.code : action, noStore, 303)
      }
      yield* browsers.checkForm(browser, headers, form)
      if (token === undefined) return yield* requestLink(form, browser)
      const password = (form["password"] ?? "").slice(0, 1600)
      return yield* PasswordResets.use((resets) =>
        Effect.flatMap(atMostOnce(resets.confirm(token, password)), resets.confirmed),
      ).pipe(
        Effect.flatMap((tokens) => continueLogin(tokens, paths)),
        Effect.catchTags({
          Unauthorized: () => Effect.succeed(linkInvalidPage(again, undefined, "forgot")),
          Unprocessable: ({ message: failed }) =>
            Effect.map(inspect(token), (link) =>
              link === undefined
                ? linkInvalidPage(again, undefined, "forgot")
                : newPasswordPage({ browser, action, email: link.email, formsLeadOut, failed }),
            ),
        }),
      )
    }),
})

const done = route({
  ...pageRow,
  id: "passwordResetDone",
  group,
  summary: "Show that the password was changed",
  method: "get",
  path: donePath,
  internal: true,
  redirects: [303],
  errors: [],
  handler: ({ headers }) =>
    Effect.gen(function* () {
      const { sessionToken } = (yield* BrowserCookies).read(headers)
      const session = yield* BrowserSessions.use((sessions) => sessions.find(sessionToken ?? ""))
      if (!session?.admitted) return Reply.redirect(path, noStore, 303)
      return resetDonePage(`${(yield* AppConfig).baseUrl}/`)
    }),
})

export const passwordReset = [showReset, useReset, done] as const
