import { Effect } from "effect"
import { parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import { Forbidden, InvalidRequest, Unprocessable } from "../../../schema/errors.ts"
import { recordEvent } from "../../accounts/security-log/security-log.ts"
import { type Browser, BrowserCookies } from "../../accounts/sessions/browser-cookies.ts"
import { type BrowserSession, BrowserSessions } from "../../accounts/sessions/browser-sessions.ts"
import { AppConfig } from "../../config/read-config.ts"
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
import { handleLoginForm } from "../login-forms.ts"
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

/** Redirects the browser to the client with these parameters and the issuer (RFC 9207). */
const redirectToClient = (redirectUri: string, parameters: Readonly<Record<string, string | undefined>>) =>
  AppConfig.use(({ authUrl }) =>
    Effect.succeed(Reply.redirect(callbackUrl(redirectUri, { ...parameters, iss: authUrl }), noStore)),
  )

const handleRequestFaults = <A, E, R>(
  effect: Effect.Effect<A, E | ClientUntrusted | AuthorizationFault, R>,
) =>
  effect.pipe(
    Effect.catchTag("ClientUntrusted" as never, ({ error }: ClientUntrusted) =>
      Effect.succeed(untrustedPage(error)),
    ),
    Effect.catchTag("AuthorizationFault" as never, (fault: AuthorizationFault) =>
      redirectToClient(fault.redirectUri, {
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

const redirectWithCode = Effect.fnUntraced(function* (
  request: AuthorizationRequest,
  session: BrowserSession,
  canonical: string,
) {
  const code = yield* AuthorizationCodes.use((codes) => codes.issue(request, session, canonical))
  yield* recordEvent({
    event: "application.authorized",
    userId: session.account.id,
    actorId: session.account.id,
    details: { client_id: request.client.client_id, name: request.client.name, emoji_id: canonical },
  })
  return yield* redirectToClient(request.redirectUri, { code, state: request.state })
})

/**
 * Whether the request came from a page of another origin, or from no page, such as a bookmark or a link in a mail
 * program. Current browsers always send the header `sec-fetch-site`. A request without it counts as same-origin.
 */
const isFromOtherOrigin = (headers: Readonly<Record<string, string>>): boolean =>
  (headers["sec-fetch-site"] || "same-origin") !== "same-origin"

/**
 * Answers the request of a logged-in user. In two cases the client gets a code immediately: the user has one id and the
 * request names no other id, or a page of this origin names one of the user's ids. Otherwise the user chooses on the
 * selector page. A user without ids gets a page that explains how to get one.
 */
const answerLoggedIn = Effect.fnUntraced(function* (
  request: AuthorizationRequest,
  browser: Browser,
  session: BrowserSession,
  isFromOtherOrigin: boolean,
) {
  const wantedText = findWanted(request.wanted)
  const ids = yield* ownedIds(session, wantedText)
  const shown = { request, browser, email: session.account.email }
  const [first] = ids
  if (first === undefined) {
    return noIdsPage({ ...shown, shopUrl: `${(yield* AppConfig).baseUrl}/` })
  }
  const wanted = ids.find(({ canonical_format }) => canonical_format === wantedText)
  // If a page of another origin names the id, and the user has several ids, the user must confirm the id.
  if (wanted !== undefined && (!isFromOtherOrigin || ids.length === 1)) {
    return yield* redirectWithCode(request, session, wanted.canonical_format)
  }
  if (ids.length === 1 && request.wanted === undefined) {
    return yield* redirectWithCode(request, session, first.canonical_format)
  }
  return selectorPage({
    ...shown,
    ids: ids.map(({ display_format }) => display_format),
    wanted: wanted?.display_format,
    ...(request.wanted !== undefined && wanted === undefined
      ? { failed: "You do not own the requested emoji id. Choose another one." }
      : {}),
  })
})

const authorizePage = route({
  ...pageRow,
  id: "authorize",
  group: "authorization",
  summary: "Start the authorization-code flow",
  description:
    "Open it in a browser (RFC 6749 section 4.1). It shows a sign-in page or the selector of ids, or redirects to `redirect_uri` with `code` and `state`. PKCE with S256 is supported. An unknown client or redirect URI shows an error page and never redirects.",
  method: "get",
  path: "/authorize",
  search: authorizationQuery,
  needsAddress: true,
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
      return yield* answerLoggedIn(request, browser, session, isFromOtherOrigin(headers))
    }).pipe(handleRequestFaults),
})

const authorizeForm = route({
  ...formRow,
  id: "authorizeForm",
  keyless: true,
  group: "authorization",
  summary: "Submit a form of the authorization-code flow",
  description: "The pages of `GET /authorize` send it: sign in, choose an id, or cancel.",
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
      const step = yield* handleLoginForm(form, browser, session, link).pipe(
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
        return yield* redirectToClient(request.redirectUri, {
          status: "pending_magic_link",
          state: request.state,
        })
      }

      switch (form["action"]) {
        case "deny":
          return yield* redirectToClient(request.redirectUri, {
            error: "access_denied",
            error_description: "the user cancelled the sign-in",
            state: request.state,
          })
        case "select": {
          if (session === undefined || !session.admitted) return again()
          const chosen = findWanted(form["emoji_id"])
          const ids = yield* ownedIds(session, chosen)
          const owned = ids.find(({ canonical_format }) => canonical_format === chosen)
          if (owned !== undefined) return yield* redirectWithCode(request, session, owned.canonical_format)
          return selectorPage({
            ...failed,
            email: session.account.email,
            ids: ids.map(({ display_format }) => display_format),
            wanted: undefined,
            failed: "You do not own this emoji id. Choose another one.",
          })
        }
        default:
          return yield* new InvalidRequest({
            error: "The action of the form is missing or unknown. Reload the page and try again.",
          })
      }
    }).pipe(handleRequestFaults),
})

export const authorize = [authorizePage, authorizeForm] as const
