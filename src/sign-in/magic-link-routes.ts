import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { Forbidden, InvalidRequest, Unprocessable } from "../../schema/errors.ts"
import { findHolder, type LinkHolder, nameOf, usersOf } from "../accounts/login/magic-link-holder.ts"
import { MagicLinks, wantsPassword } from "../accounts/login/magic-links.ts"
import { type Browser, BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { AppConfig } from "../config/read-config.ts"
import { readForm } from "../http/request/form.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { formRow, pageRow } from "../web/page-route.ts"
import { logInByCode, sendCodeAgain } from "./browser-login.ts"
import { continueLogin, noStore } from "./continue-login.ts"
import { magicLinkEnd } from "./magic-link-end-routes.ts"
import { type Landing, readLanding, withoutToken } from "./magic-link-landing-routes.ts"
import { discardAction, linkCodePage, linkInvalidPage, linkPage } from "./magic-link-page.ts"
import { landingQuery } from "./oauth/authorization-request.ts"

/** The lifetime of the cookie `handed`. It stores the refresh token of a link until the user confirms the login. */
const handedSeconds = 600

/**
 * Shows the page of a link. The page asks for the password if the link confirms the address of an account with a
 * password and this browser has not proven to be its user.
 */
const showLinkPage = Effect.fnUntraced(function* (
  browser: Browser,
  { action, next }: Landing,
  holder: LinkHolder,
  failed?: string,
) {
  const isProven = holder.purpose !== "confirm" || (yield* usersOf(browser)).includes(holder.userId)
  const asksPassword = !isProven && wantsPassword(holder)
  return linkPage({
    browser,
    action,
    ...holder,
    asksPassword,
    discardsCredentials: !isProven && !asksPassword,
    formsLeadOut: next !== undefined,
    failed,
  })
})

const showLink = route({
  ...pageRow,
  id: "magicLink",
  group: "authorization",
  summary: "Show the page of an emailed link",
  description: "It asks before it logs the user in, because mail programs open links by themselves.",
  method: "get",
  path: "/magic_link",
  search: landingQuery,
  limit: "login",
  redirects: [303],
  errors: [InvalidRequest],
  handler: ({ headers, search }) =>
    Effect.gen(function* () {
      const browsers = yield* BrowserCookies
      const browser = browsers.read(headers)
      const landing = yield* readLanding(search, browser)
      const { isShown, next, token } = landing
      const holder = yield* findHolder(token)
      if (holder === undefined) return linkInvalidPage(next)
      // A refresh token is valid for weeks, and browsers store URLs in their history. So the token is moved from the
      // URL to a cookie. The token of an emailed link can stay in the URL, because it works once.
      if (holder.purpose === "token" && isShown) {
        const cookie = browsers.cookie("handed", token, handedSeconds)
        return Reply.redirect(withoutToken(search), { ...noStore, "Set-Cookie": cookie }, 303)
      }
      return yield* showLinkPage(browser, landing, holder)
    }),
})

const codePathOf = ({ action }: Landing): string => action.replace("?", "/code?")

const pathsOf = (landing: Landing) => ({
  next: landing.next ?? "/magic_link/done",
  code: codePathOf(landing),
})

const useLink = route({
  ...formRow,
  id: "useMagicLink",
  keyless: true,
  group: "authorization",
  summary: "Sign in by an emailed link",
  description:
    "The page of `GET /magic_link` sends this form. Action `discard` removes the credentials created before the email was confirmed.",
  path: "/magic_link",
  search: landingQuery,
  limit: "login",
  redirects: [303],
  errors: [Forbidden, InvalidRequest, Unprocessable],
  handler: ({ headers, rawBody, search }) =>
    Effect.gen(function* () {
      const browsers = yield* BrowserCookies
      const browser = browsers.read(headers)
      const landing = yield* readLanding(search, browser)
      const form = yield* Effect.fromResult(readForm(rawBody))
      if (browsers.precedesLogin(browser, headers, form)) {
        const isSpent = (yield* findHolder(landing.token)) === undefined
        return Reply.redirect(isSpent ? codePathOf(landing) : landing.action, noStore, 303)
      }
      yield* browsers.checkForm(browser, headers, form)
      const session = yield* BrowserSessions.use((sessions) => sessions.find(landing.token))
      if (session !== undefined) {
        const { email, id: userId } = session.account
        // If the browser got a refresh token of another user after the page was shown, the person has not confirmed a
        // login as that user. So the page asks again.
        if ((form["user"] ?? userId) !== userId) {
          return yield* showLinkPage(browser, landing, {
            userId,
            email: nameOf(email),
            purpose: "token",
            hasPassword: session.account.password_hash !== null,
          })
        }
        const requires = session.admitted
          ? {}
          : { requires_2fa: session.account.providers[0] ?? "AuthenticatorApp" }
        const tokens = { access_token: "", refresh_token: landing.token, has_password: false, ...requires }
        const { refreshTokenSeconds } = yield* AppConfig
        return yield* continueLogin(tokens, pathsOf(landing), [
          browsers.given(landing.token, refreshTokenSeconds),
        ])
      }
      // Credentials are discarded only if the user pressed the button that discards them. Some clients send the form
      // without a button on Enter, and this must not discard credentials.
      const discardsCredentials = form["action"] === discardAction
      const password = discardsCredentials ? undefined : form["password"]?.slice(0, 1600)
      const shown = { users: yield* usersOf(browser), password, discardsCredentials }
      return yield* MagicLinks.use((links) =>
        Effect.flatMap(atMostOnce(links.consume(landing.token, shown)), links.consumed),
      ).pipe(
        Effect.flatMap((tokens) => continueLogin(tokens, pathsOf(landing))),
        Effect.catchTags({
          Unauthorized: () => Effect.succeed(linkInvalidPage(landing.next)),
          Conflict: ({ message }) => Effect.succeed(linkInvalidPage(undefined, message)),
          Unprocessable: ({ message }) =>
            Effect.gen(function* () {
              const holder = yield* findHolder(landing.token)
              return holder === undefined
                ? linkInvalidPage(landing.next)
                : yield* showLinkPage(browser, landing, holder, message)
            }),
        }),
      )
    }),
})

const askCode = route({
  ...pageRow,
  id: "magicLinkCode",
  group: "authorization",
  summary: "Ask for the two-factor code after an emailed link",
  method: "get",
  path: "/magic_link/code",
  internal: true,
  redirects: [303],
  errors: [InvalidRequest],
  handler: ({ headers, search }) =>
    Effect.gen(function* () {
      const browser = (yield* BrowserCookies).read(headers)
      const { next } = yield* readLanding(search, browser)
      const session = yield* BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))
      if (session === undefined) return linkInvalidPage(next)
      if (session.admitted) return Reply.redirect(next ?? "/magic_link/done", noStore, 303)
      const action = `/magic_link/code?${search}`
      return linkCodePage({
        browser,
        action,
        provider: session.account.providers[0],
        formsLeadOut: next !== undefined,
      })
    }),
})

const useCode = route({
  ...formRow,
  id: "useMagicLinkCode",
  keyless: true,
  group: "authorization",
  summary: "Complete the sign-in by an emailed link with a two-factor code (form)",
  path: "/magic_link/code",
  internal: true,
  limit: "code",
  redirects: [303],
  errors: [Forbidden, InvalidRequest, Unprocessable],
  handler: ({ headers, rawBody, search }) =>
    Effect.gen(function* () {
      const browsers = yield* BrowserCookies
      const browser = browsers.read(headers)
      const landing = yield* readLanding(search, browser)
      const form = yield* Effect.fromResult(readForm(rawBody))
      const action = `/magic_link/code?${search}`
      if (browsers.precedesLogin(browser, headers, form)) return Reply.redirect(action, noStore, 303)
      yield* browsers.checkForm(browser, headers, form)
      const session = yield* BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))
      if (session === undefined || form["action"] === "leave") {
        return Reply.redirect(
          landing.next ?? "/magic_link/done",
          { ...noStore, "Set-Cookie": browsers.forget("session") },
          303,
        )
      }
      if (form["action"] === "sms") {
        yield* sendCodeAgain(session).pipe(Effect.ignore)
        return Reply.redirect(action, noStore, 303)
      }
      return yield* logInByCode(browser.sessionToken ?? "", form).pipe(
        Effect.flatMap((tokens) => continueLogin(tokens, pathsOf(landing))),
        Effect.catchTag("LoginFailed", ({ error }) =>
          Effect.succeed(
            linkCodePage({
              browser,
              action,
              provider: session.account.providers[0],
              failed: error,
              formsLeadOut: landing.next !== undefined,
            }),
          ),
        ),
      )
    }),
})

export const magicLink = [showLink, useLink, askCode, useCode, ...magicLinkEnd] as const
