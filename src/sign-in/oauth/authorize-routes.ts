import { Effect } from "effect"
import { parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import { Forbidden, InvalidRequest, Unprocessable } from "../../../schema/errors.ts"
import { type Browser, BrowserCookies } from "../../accounts/sessions/browser-cookies.ts"
import { type BrowserSession, BrowserSessions } from "../../accounts/sessions/browser-sessions.ts"
import { AppConfig } from "../../config/config.ts"
import { listOwned } from "../../directory/id-lists.ts"
import { readForm } from "../../http/request/form.ts"
import { Reply } from "../../http/response/reply.ts"
import { route } from "../../http/route.ts"
import { formRow, pageRow } from "../../web/page-route.ts"
import {
  authorizePath,
  codePage,
  loginPage,
  noIdsPage,
  selectorPage,
  untrustedPage,
} from "../authorize-page.ts"
import { takeLoginForm } from "../login-forms.ts"
import { AuthorizationCodes } from "./authorization-codes.ts"
import {
  type AuthorizationFault,
  type AuthorizationRequest,
  authorizationQuery,
  type ClientUntrusted,
  callbackUrl,
  readAuthorizationRequest,
} from "./authorization-request.ts"

const noStore = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" }

/** Sends the browser back to the application with what it is told, and by whom (RFC 9207). */
const backTo = (redirectUri: string, told: Readonly<Record<string, string | undefined>>) =>
  AppConfig.use(({ authUrl }) =>
    Effect.succeed(Reply.redirect(callbackUrl(redirectUri, { ...told, iss: authUrl }), noStore)),
  )

const refused = <A, E, R>(effect: Effect.Effect<A, E | ClientUntrusted | AuthorizationFault, R>) =>
  effect.pipe(
    Effect.catchTag("ClientUntrusted" as never, ({ error }: ClientUntrusted) =>
      Effect.succeed(untrustedPage(error)),
    ),
    Effect.catchTag("AuthorizationFault" as never, (fault: AuthorizationFault) =>
      backTo(fault.redirectUri, {
        error: fault.error,
        error_description: fault.description,
        state: fault.state,
      }),
    ),
  ) as Effect.Effect<A | Reply<never>, Exclude<E, ClientUntrusted | AuthorizationFault>, R | AppConfig>

const ownedIds = (session: BrowserSession, named: string | undefined) => listOwned(session.account.id, named)

const findWanted = (wanted: string | undefined): string | undefined => {
  const id = parseEmojiId(wanted ?? "")
  return id._tag === "EmojiId" ? id.canonical : undefined
}

const giveCode = Effect.fnUntraced(function* (
  request: AuthorizationRequest,
  session: BrowserSession,
  canonical: string,
) {
  const code = yield* AuthorizationCodes.use((codes) => codes.issue(request, session, canonical))
  return yield* backTo(request.redirectUri, { code, state: request.state })
})

/** A neighbour on the same domain and a link in a mail are elsewhere too. Who does not say is no browser of today. */
const cameFromElsewhere = (headers: Readonly<Record<string, string>>): boolean =>
  (headers["sec-fetch-site"] || "same-origin") !== "same-origin"

/** The page for a login that is complete: the ids to choose from, unless there is nothing to choose. */
const choose = Effect.fnUntraced(function* (
  request: AuthorizationRequest,
  browser: Browser,
  session: BrowserSession,
  isFromElsewhere: boolean,
) {
  const wantedText = findWanted(request.wanted)
  const ids = yield* ownedIds(session, wantedText)
  const shown = { request, browser, email: session.account.email }
  const [first] = ids
  if (first === undefined) {
    return noIdsPage({ ...shown, shopUrl: `${(yield* AppConfig).baseUrl}/` })
  }
  const wanted = ids.find(({ canonical_format }) => canonical_format === wantedText)
  // A page elsewhere may name an id, but only the person may confirm it.
  if (wanted !== undefined && (!isFromElsewhere || ids.length === 1)) {
    return yield* giveCode(request, session, wanted.canonical_format)
  }
  if (ids.length === 1 && request.wanted === undefined) {
    return yield* giveCode(request, session, first.canonical_format)
  }
  return selectorPage({
    ...shown,
    ids: ids.map(({ display_format }) => display_format),
    wanted: wanted?.display_format,
    ...(request.wanted !== undefined && wanted === undefined
      ? { failed: "The id that was asked for is not yours. Choose another." }
      : {}),
  })
})

const authorizePage = route({
  ...pageRow,
  id: "authorize",
  group: "authorization",
  summary:
    "An application asks who its user is: login page, id selector, or the way back with a code (RFC 6749 section 4.1)",
  method: "get",
  path: "/authorize",
  search: authorizationQuery,
  redirects: [302],
  errors: [],
  handler: ({ headers, search }) =>
    Effect.gen(function* () {
      const request = yield* readAuthorizationRequest(search)
      const browser = (yield* BrowserCookies).read(headers)
      const session =
        browser.sessionToken === undefined
          ? undefined
          : yield* BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))
      if (session === undefined) return loginPage({ request, browser })
      if (!session.admitted) return codePage({ request, browser, provider: session.account.providers[0] })
      return yield* choose(request, browser, session, cameFromElsewhere(headers))
    }).pipe(refused),
})

const authorizeForm = route({
  ...formRow,
  id: "authorizeForm",
  group: "authorization",
  summary: "What the person does on that page: log in, choose an id, or refuse (form)",
  path: "/authorize",
  search: authorizationQuery,
  limit: "login",
  redirects: [302, 303],
  errors: [Forbidden, InvalidRequest, Unprocessable],
  handler: ({ headers, rawBody, search }) =>
    Effect.gen(function* () {
      const request = yield* readAuthorizationRequest(search)
      const form = yield* Effect.fromResult(readForm(rawBody))
      const browsers = yield* BrowserCookies
      const browser = browsers.read(headers)
      const again = (headers: Record<string, string> = {}) =>
        Reply.redirect(authorizePath(request), { ...noStore, ...headers }, 303)
      if (browsers.precedesLogin(browser, headers, form)) return again()
      yield* browsers.checkForm(browser, headers, form)
      const session =
        browser.sessionToken === undefined
          ? undefined
          : yield* BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))
      const failed = { request, browser, status: 422 }

      const link = { parameters: request.parameters, site: "auth" } as const
      const step = yield* takeLoginForm(form, browser, session, link).pipe(
        Effect.catchTag("LoginFailed", ({ error }) =>
          Effect.succeed(
            session === undefined || session.admitted
              ? loginPage({ ...failed, failed: error, email: form["email"] ?? "" })
              : codePage({ ...failed, failed: error, provider: session.account.providers[0] }),
          ),
        ),
      )
      if (step instanceof Reply) return step
      if (step?.kind === "shown_again") {
        return again(step.cookie === undefined ? {} : { "Set-Cookie": step.cookie })
      }
      if (step?.kind === "mailed") {
        return yield* backTo(request.redirectUri, { status: "pending_magic_link", state: request.state })
      }

      switch (form["action"]) {
        case "deny":
          return yield* backTo(request.redirectUri, {
            error: "access_denied",
            error_description: "the user refused",
            state: request.state,
          })
        case "select": {
          if (session === undefined || !session.admitted) return again()
          const chosen = findWanted(form["emoji_id"])
          const ids = yield* ownedIds(session, chosen)
          const owned = ids.find(({ canonical_format }) => canonical_format === chosen)
          if (owned !== undefined) return yield* giveCode(request, session, owned.canonical_format)
          return selectorPage({
            ...failed,
            email: session.account.email,
            ids: ids.map(({ display_format }) => display_format),
            wanted: undefined,
            failed: "This id is not yours. Choose another.",
          })
        }
        default:
          return yield* new InvalidRequest({ error: "The form does not say what to do." })
      }
    }).pipe(refused),
})

export const authorize = [authorizePage, authorizeForm] as const
