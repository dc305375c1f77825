import { Effect } from "effect"
import { Conflict, Forbidden, InvalidRequest, NotFound, TwoFactorRequired } from "../../schema/errors.ts"
import { isRedirectPath, type TokenResponse } from "../../schema/session.ts"
import { AppConfig } from "../config.ts"
import { type Form, readForm, readParameters } from "../http/form.ts"
import { Reply } from "../http/reply.ts"
import { route } from "../http/route.ts"
import { updateAccount } from "../services/account-update.ts"
import { landingQuery, readAuthorizationRequest } from "../services/authorization-request.ts"
import { logInByCode, sendCodeAgain } from "../services/browser-login.ts"
import { type BrowserSession, BrowserSessions } from "../services/browser-sessions.ts"
import { type Browser, Browsers } from "../services/browsers.ts"
import { findHolder, type LinkHolder, nameOf, usersOf } from "../services/link-holders.ts"
import { MagicLinks } from "../services/magic-links.ts"
import { formTarget } from "../web/form-target.ts"
import { linkCodePage, linkPage, linkSpentPage, welcomePage } from "../web/magic-link.ts"
import { formRow, pageRow } from "../web/page-row.ts"

const noStore = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" }
const maxTokenLength = 512
/** How long somebody may think about a login that was handed over. */
const handedSeconds = 600

interface Landing {
  readonly token: string
  /** Whether the token is in the address. */
  readonly isShown: boolean
  /** A path of ours to go on to. */
  readonly next: string | undefined
  /** This page's own path, for its form. */
  readonly action: string
}

/** An application's request goes on to the page that checks it; otherwise a path of ours, or nowhere. */
const nextOf = ({ refresh_token: _, redirect, ...rest }: Form): string | undefined => {
  if (rest["client_id"] !== undefined) {
    return `/authorize?${new URLSearchParams({ response_type: "code", ...rest })}`
  }
  return redirect !== undefined && isRedirectPath(redirect) ? redirect : undefined
}

/** It goes on in headers, of which many a client takes 16 KB. */
const maxLandingCharacters = 8_000

const readLanding = (search: string, { handedToken }: Browser): Effect.Effect<Landing, InvalidRequest> => {
  const read = readParameters(search)
  if (read === undefined || read.repeated.size > 0) {
    return Effect.fail(
      new InvalidRequest({ error: "The link is damaged. Copy it from the mail as a whole." }),
    )
  }
  const action = `/magic_link?${new URLSearchParams(read.values)}`
  if (action.length > maxLandingCharacters) {
    return Effect.fail(new InvalidRequest({ error: "The link is too long to go on with." }))
  }
  const shown = read.values["refresh_token"]
  return Effect.succeed({
    token: (shown ?? handedToken ?? "").slice(0, maxTokenLength),
    isShown: shown !== undefined,
    next: nextOf(read.values),
    action,
  })
}

const withoutToken = (search: string): string => {
  const rest = new URLSearchParams(search)
  rest.delete("refresh_token")
  return `/magic_link?${rest}`
}

/** Where the way on may end: an application's address, once that is checked. */
const targetsOf = (next: string | undefined) =>
  next?.startsWith("/authorize?")
    ? readAuthorizationRequest(next.slice("/authorize?".length)).pipe(
        Effect.map(({ redirectUri }) => formTarget(redirectUri)),
        Effect.catchTags({
          ClientUntrusted: () => Effect.succeed([]),
          AuthorizationFault: ({ redirectUri }) => Effect.succeed(formTarget(redirectUri)),
        }),
      )
    : Effect.succeed([])

/** The page of a link. Who is not known here yet is asked for the password there may be. */
const askToUse = Effect.fnUntraced(function* (
  browser: Browser,
  { action, next }: Landing,
  holder: LinkHolder,
  failed?: string,
) {
  const isUnknown = holder.purpose === "confirm" && !(yield* usersOf(browser)).includes(holder.userId)
  const formTargets = yield* targetsOf(next)
  return linkPage({ browser, action, ...holder, asksPassword: isUnknown, formTargets, failed })
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
      const browsers = yield* Browsers
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

const goOn = Effect.fnUntraced(function* (
  { action, next }: Landing,
  tokens: TokenResponse,
  further: ReadonlyArray<string> = [],
) {
  const { refreshTokenSeconds } = yield* AppConfig
  const browsers = yield* Browsers
  const cookies = [
    browsers.cookie("session", tokens.refresh_token, refreshTokenSeconds),
    browsers.forget("handed"),
    ...further,
  ]
  const to = tokens.requires_2fa === undefined ? (next ?? "/magic_link/done") : action.replace("?", "/code?")
  return Reply.redirect(to, { ...noStore, "Set-Cookie": cookies }, 303)
})

const useLink = route({
  ...formRow,
  id: "useMagicLink",
  group: "authorization",
  summary: "Uses the link up, keeps the login in a cookie of this site and goes on (form)",
  path: "/magic_link",
  search: landingQuery,
  limit: "login",
  redirects: [303],
  errors: [Forbidden, InvalidRequest],
  handler: ({ headers, rawBody, search }) =>
    Effect.gen(function* () {
      const browsers = yield* Browsers
      const browser = browsers.read(headers)
      const landing = yield* readLanding(search, browser)
      const form = yield* Effect.fromResult(readForm(rawBody))
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
      const password = form["action"] === "password" ? (form["password"] ?? "").slice(0, 1600) : undefined
      const shown = { users: yield* usersOf(browser), password }
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
      const browser = (yield* Browsers).read(headers)
      const { next } = yield* readLanding(search, browser)
      const session = yield* BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))
      if (session === undefined) return linkSpentPage(next)
      if (session.admitted) return Reply.redirect(next ?? "/magic_link/done", noStore, 303)
      const action = `/magic_link/code?${search}`
      return linkCodePage({
        browser,
        action,
        provider: session.account.providers[0],
        formTargets: yield* targetsOf(next),
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
      const browsers = yield* Browsers
      const browser = browsers.read(headers)
      const landing = yield* readLanding(search, browser)
      const form = yield* Effect.fromResult(readForm(rawBody))
      yield* browsers.checkForm(browser, headers, form)
      const session = yield* BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))
      const action = `/magic_link/code?${search}`
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
      const formTargets = yield* targetsOf(landing.next)
      return yield* logInByCode(browser.sessionToken ?? "", form).pipe(
        Effect.flatMap((tokens) => goOn(landing, tokens)),
        Effect.catchTag("LoginFailed", ({ error }) =>
          Effect.succeed(
            linkCodePage({
              browser,
              action,
              provider: session.account.providers[0],
              failed: error,
              formTargets,
            }),
          ),
        ),
      )
    }),
})

const welcomed = (browser: Browser, { account }: BrowserSession, failed?: string) =>
  AppConfig.use(({ baseUrl }) =>
    Effect.succeed(
      welcomePage({
        browser,
        email: account.email,
        homeUrl: `${baseUrl}/`,
        hasPassword: account.password_hash !== null,
        ...(failed === undefined ? {} : { failed }),
      }),
    ),
  )

const done = route({
  ...pageRow,
  id: "magicLinkDone",
  group: "authorization",
  summary: "Where a link ends that leads nowhere else",
  method: "get",
  path: "/magic_link/done",
  internal: true,
  errors: [],
  handler: ({ headers }) =>
    Effect.gen(function* () {
      const browser = (yield* Browsers).read(headers)
      const session = yield* BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))
      return session === undefined ? linkSpentPage(undefined) : yield* welcomed(browser, session)
    }),
})

const setPassword = route({
  ...formRow,
  id: "magicLinkPassword",
  group: "authorization",
  summary: "The first password of a user who registered with an email alone (form)",
  path: "/magic_link/done",
  internal: true,
  limit: "login",
  redirects: [303],
  errors: [Conflict, Forbidden, InvalidRequest, NotFound, TwoFactorRequired],
  handler: ({ headers, rawBody }) =>
    Effect.gen(function* () {
      const form = yield* Effect.fromResult(readForm(rawBody))
      const browsers = yield* Browsers
      const browser = browsers.read(headers)
      yield* browsers.checkForm(browser, headers, form)
      const session = yield* BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))
      if (session === undefined || !session.admitted) return linkSpentPage(undefined)
      if (session.account.password_hash !== null) return yield* welcomed(browser, session)
      const password = (form["password"] ?? "").slice(0, 1600)
      return yield* updateAccount(session.principal, { password }).pipe(
        Effect.flatMap((tokens) =>
          Effect.gen(function* () {
            const { refreshTokenSeconds } = yield* AppConfig
            const cookie = browsers.cookie("session", tokens?.refresh_token ?? "", refreshTokenSeconds)
            return Reply.redirect("/magic_link/done", { ...noStore, "Set-Cookie": cookie }, 303)
          }),
        ),
        Effect.catchTag("Unprocessable", ({ message }) => welcomed(browser, session, message)),
      )
    }),
})

export const magicLink = [showLink, useLink, askCode, takeCode, done, setPassword] as const
