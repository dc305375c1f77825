import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import {
  Conflict,
  Forbidden,
  InvalidRequest,
  NotFound,
  TwoFactorRequired,
  Unprocessable,
} from "../../schema/errors.ts"
import { type Browser, BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { type BrowserSession, BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { accountUpdated, updateAccount } from "../accounts/update-own-account.ts"
import { AppConfig } from "../config/read-config.ts"
import { readForm } from "../http/request/form.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { formRow, pageRow } from "../web/page-route.ts"
import { noStore } from "./continue-login.ts"
import { linkInvalidPage, welcomePage } from "./magic-link-page.ts"

const showWelcome = (browser: Browser, { account }: BrowserSession, failed?: string) =>
  AppConfig.use(({ baseUrl }) =>
    Effect.succeed(
      welcomePage({
        browser,
        email: account.email,
        homeUrl: `${baseUrl}/`,
        hasPassword: account.password_hash !== null,
        isConfirmed: account.email_verified,
        ...(failed === undefined ? {} : { failed }),
      }),
    ),
  )

const done = route({
  ...pageRow,
  id: "magicLinkDone",
  group: "authorization",
  summary: "Show that the sign-in is complete, after a link without a redirect",
  method: "get",
  path: "/magic_link/done",
  internal: true,
  errors: [],
  handler: ({ headers }) =>
    Effect.gen(function* () {
      const browser = (yield* BrowserCookies).read(headers)
      const session = yield* BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))
      return session === undefined ? linkInvalidPage(undefined) : yield* showWelcome(browser, session)
    }),
})

const setPassword = route({
  ...formRow,
  id: "magicLinkPassword",
  keyless: true,
  group: "authorization",
  summary: "Set the first password of a user who registered with an email only (form)",
  path: "/magic_link/done",
  internal: true,
  limit: "login",
  redirects: [303],
  errors: [Conflict, Forbidden, InvalidRequest, NotFound, TwoFactorRequired, Unprocessable],
  handler: ({ headers, rawBody }) =>
    Effect.gen(function* () {
      const form = yield* Effect.fromResult(readForm(rawBody))
      const browsers = yield* BrowserCookies
      const browser = browsers.read(headers)
      yield* browsers.checkForm(browser, headers, form)
      const session = yield* BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))
      if (session === undefined || !session.admitted) return linkInvalidPage(undefined)
      if (session.account.password_hash !== null) return yield* showWelcome(browser, session)
      const password = (form["password"] ?? "").slice(0, 1600)
      if (password === "") return yield* showWelcome(browser, session, "Enter a password.")
      return yield* atMostOnce(updateAccount(session.principal, { password })).pipe(
        Effect.flatMap(accountUpdated),
        Effect.flatMap((tokens) =>
          Effect.gen(function* () {
            const { refreshTokenSeconds } = yield* AppConfig
            const cookie = browsers.cookie("session", tokens?.refresh_token ?? "", refreshTokenSeconds)
            return Reply.redirect("/magic_link/done", { ...noStore, "Set-Cookie": cookie }, 303)
          }),
        ),
        Effect.catchTag("Unprocessable", ({ message }) => showWelcome(browser, session, message)),
      )
    }),
})

export const magicLinkEnd = [done, setPassword] as const
