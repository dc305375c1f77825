import { Effect } from "effect"
import type { TokenResponse } from "../../schema/accounts/session.ts"
import { Forbidden, InvalidRequest } from "../../schema/errors.ts"
import { findHolder, type LinkHolder, nameOf, usersOf } from "../accounts/login/magic-link-holder.ts"
import { MagicLinks } from "../accounts/login/magic-links.ts"
import { type Browser, BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { AppConfig } from "../config/config.ts"
import { readForm } from "../http/request/form.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { formRow, pageRow } from "../web/page-route.ts"
import { logInByCode, sendCodeAgain } from "./browser-login.ts"
import { magicLinkEnd, noStore } from "./magic-link-end-routes.ts"
import { type Landing, readLanding, withoutToken } from "./magic-link-landing-routes.ts"
import { discardAction, linkCodePage, linkPage, linkSpentPage } from "./magic-link-page.ts"
import { landingQuery } from "./oauth/authorization-request.ts"

/** How long somebody may think about a login that was handed over. */
const handedSeconds = 600

/** The page of a link. Who is not known here yet is asked for the password there may be. */
const askToUse = Effect.fnUntraced(function* (
  browser: Browser,
  { action, next }: Landing,
  holder: LinkHolder,
  failed?: string,
) {
  const isUnknown = holder.purpose === "confirm" && !(yield* usersOf(browser)).includes(holder.userId)
  return linkPage({
    browser,
    action,
    ...holder,
    asksPassword: isUnknown,
    formsLeadOut: next !== undefined,
    failed,
  })
})

const showLink = route({
  ...pageRow,
  id: "magicLink",
  group: "authorization",
  summary: "The page a mailed link leads to; it asks before it logs anybody in",
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
      if (holder === undefined) return linkSpentPage(next)
      // A mailed link works once; a refresh token is good for weeks, and addresses are kept in histories.
      if (holder.purpose === "token" && isShown) {
        const cookie = browsers.cookie("handed", token, handedSeconds)
        return Reply.redirect(withoutToken(search), { ...noStore, "Set-Cookie": cookie }, 303)
      }
      return yield* askToUse(browser, landing, holder)
    }),
})

/** Where a login that a link has begun goes on, or that needs nothing more ends. */
const codePathOf = ({ action }: Landing): string => action.replace("?", "/code?")

const goOn = Effect.fnUntraced(function* (
  landing: Landing,
  tokens: TokenResponse,
  further: ReadonlyArray<string> = [],
) {
  const { refreshTokenSeconds } = yield* AppConfig
  const browsers = yield* BrowserCookies
  const cookies = [
    browsers.cookie("session", tokens.refresh_token, refreshTokenSeconds),
    browsers.forget("handed"),
    ...further,
  ]
  const to = tokens.requires_2fa === undefined ? (landing.next ?? "/magic_link/done") : codePathOf(landing)
  return Reply.redirect(to, { ...noStore, "Set-Cookie": cookies }, 303)
})

const useLink = route({
  ...formRow,
  id: "useMagicLink",
  group: "authorization",
  summary:
    "Uses the link up, keeps the login in a cookie of this site and goes on (form: password, or action `discard` to remove the credentials set up before)",
  path: "/magic_link",
  search: landingQuery,
  limit: "login",
  redirects: [303],
  errors: [Forbidden, InvalidRequest],
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
        // Another login was handed over since the page was shown, and nobody has said yes to that one.
        if ((form["user"] ?? userId) !== userId) {
          return yield* askToUse(browser, landing, { userId, email: nameOf(email), purpose: "token" })
        }
        const requires = session.admitted
          ? {}
          : { requires_2fa: session.account.providers[0] ?? "AuthenticatorApp" }
        const tokens = { access_token: "", refresh_token: landing.token, has_password: false, ...requires }
        const { refreshTokenSeconds } = yield* AppConfig
        return yield* goOn(landing, tokens, [browsers.given(landing.token, refreshTokenSeconds)])
      }
      // A form sent without a button, as some clients do on Enter, must not discard anything either.
      const discardsCredentials = form["action"] === discardAction
      const password = discardsCredentials ? undefined : form["password"]?.slice(0, 1600)
      const shown = { users: yield* usersOf(browser), password, discardsCredentials }
      return yield* MagicLinks.use((links) => links.consume(landing.token, shown)).pipe(
        Effect.flatMap((tokens) => goOn(landing, tokens)),
        Effect.catchTags({
          Unauthorized: () => Effect.succeed(linkSpentPage(landing.next)),
          Conflict: ({ message }) => Effect.succeed(linkSpentPage(undefined, message)),
          Unprocessable: ({ message }) =>
            Effect.gen(function* () {
              const holder = yield* findHolder(landing.token)
              return holder === undefined
                ? linkSpentPage(landing.next)
                : yield* askToUse(browser, landing, holder, message)
            }),
        }),
      )
    }),
})

const askCode = route({
  ...pageRow,
  id: "magicLinkCode",
  group: "authorization",
  summary: "Asks for the two-factor code after a link",
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
      if (session === undefined) return linkSpentPage(next)
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

const takeCode = route({
  ...formRow,
  id: "useMagicLinkCode",
  group: "authorization",
  summary: "Completes that login (form)",
  path: "/magic_link/code",
  internal: true,
  limit: "code",
  redirects: [303],
  errors: [Forbidden, InvalidRequest],
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
        Effect.flatMap((tokens) => goOn(landing, tokens)),
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

export const magicLink = [showLink, useLink, askCode, takeCode, ...magicLinkEnd] as const
