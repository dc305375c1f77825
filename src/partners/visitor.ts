import { Data, Effect } from "effect"
import { InvalidRequest, NotFound } from "../../schema/errors.ts"
import { isPartnerLink } from "../../schema/web-link.ts"
import { BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { type BrowserSession, BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { AppConfig } from "../config/read-config.ts"
import { type Form, readForm, readParameters } from "../http/request/form.ts"
import { Reply } from "../http/response/reply.ts"
import { Organizations } from "../organizations/organization-store.ts"
import { handleLoginForm } from "../sign-in/login-forms.ts"
import { LinkRefused, linkParameters, readLinkParameters } from "./link-parameters.ts"
import { mailSentPage, partnerCodePage, partnerLoginPage } from "./login-page.ts"
import { noStore, refusedPage, type Visitor, visitMark } from "./page-shell.ts"
import { storePartnerIds } from "./partner-id-store.ts"
import { goBack } from "./return.ts"
import type { PartnerFlow } from "./visit-store.ts"
import { PartnerVisits, type Visit, visitSeconds } from "./visits.ts"

/** An error that ends the handler early. `sendEarlyReply` sends its reply. */
export class EarlyReply extends Data.TaggedError("EarlyReply")<{ readonly reply: Reply<never> }> {}

export const sendEarlyReply = <A, E, R>(effect: Effect.Effect<A, E | EarlyReply, R>) =>
  effect.pipe(
    Effect.catchTag("EarlyReply" as never, ({ reply }: EarlyReply) => Effect.succeed(reply)),
  ) as Effect.Effect<A | Reply<never>, Exclude<E, EarlyReply>, R>

export const seeOther = (path: string, headers: Record<string, string> = {}) =>
  Reply.redirect(path, { ...noStore, ...headers }, 303)

const suffixes = { get: "", connect: "/link-email", manage: "/manage" } as const
const noVisit: Visit = { addresses: [], sessionId: undefined, orderId: undefined }

interface FlowRequest {
  readonly params: { readonly partner_path: string }
  readonly headers: Readonly<Record<string, string>>
  readonly search: string
}

/** Stores the partner's parameters in a visit, and redirects to the same page without the parameters. */
const startVisit = Effect.fnUntraced(function* (visitor: Visitor, values: Form) {
  const { flow, home, partner } = visitor
  const state = readLinkParameters(values)
  if (state instanceof LinkRefused) {
    const why = `${partner.name} sent an invalid ${state.name}. ${state.why}`
    return yield* new EarlyReply({ reply: refusedPage(partner, why) })
  }
  const token = state.refreshToken
  const session =
    token === undefined ? undefined : yield* BrowserSessions.use((sessions) => sessions.find(token))
  const login = session?.admitted ? { userId: session.account.id, sessionId: session.sessionId } : undefined
  // A token that cannot be used leads to the login page. The addresses stay, so the flow continues after the login.
  const unusable = token !== undefined && login === undefined
  const loginProblem = session === undefined ? "ended" : "needs_code"
  const visitToken = yield* PartnerVisits.use((visits) =>
    visits.create(partner.organization_id, flow, unusable ? { ...state, loginProblem } : state, login),
  )
  // Only the user's own partner has the user's token, so the ids are stored at once. Without a token they are stored
  // when the user completes the flow, because anyone can make such a link.
  if (login !== undefined) yield* storePartnerIds(login.userId, state)
  const cookie = (yield* BrowserCookies).cookie("visit", visitToken, visitSeconds)
  return yield* new EarlyReply({ reply: seeOther(home, { "Set-Cookie": cookie }) })
})

const findVisitor = Effect.fnUntraced(function* ({ headers, params }: FlowRequest, flow: PartnerFlow) {
  const partner = yield* Organizations.use((all) => all.findByPartnerPath(params.partner_path))
  if (partner === undefined)
    return yield* new NotFound({ error: "Partner not found. Check the partner path in the URL." })
  const browser = (yield* BrowserCookies).read(headers)
  const visit =
    browser.visitToken === undefined
      ? undefined
      : yield* PartnerVisits.use((visits) =>
          visits.find(browser.visitToken ?? "", partner.organization_id, flow),
        )
  const home = `/partner/${encodeURIComponent(params.partner_path)}${suffixes[flow]}`
  // A link that was stored before http was refused stays in use, but gets no refresh token.
  const linkTakesTokens = isPartnerLink(partner.return_link, yield* AppConfig)
  return {
    partner,
    linkTakesTokens,
    flow,
    home,
    browser,
    visit: visit ?? noVisit,
  } satisfies Visitor as Visitor
})

/**
 * Returns the visitor and the query of a page request. If the URL has parameters of the partner, it starts a visit
 * and ends the handler with a redirect.
 */
export const openFlow = Effect.fnUntraced(function* (request: FlowRequest, flow: PartnerFlow) {
  const visitor = yield* findVisitor(request, flow)
  const read = readParameters(request.search)
  const repeatedName = read === undefined ? undefined : linkParameters.find((name) => read.repeated.has(name))
  if (read === undefined || repeatedName !== undefined) {
    const why =
      repeatedName === undefined
        ? "The URL is damaged."
        : `The parameter ${repeatedName} is sent more than once.`
    return yield* new EarlyReply({ reply: refusedPage(visitor.partner, why) })
  }
  if (linkParameters.some((name) => read.values[name] !== undefined))
    return yield* startVisit(visitor, read.values)
  return { visitor, query: read.values }
})

export const findLogin = ({ browser }: Visitor) =>
  browser.sessionToken === undefined
    ? Effect.succeed(undefined)
    : BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))

/**
 * Continues the visit without the session of the partner's user, which has ended. The next page shows the data of the
 * user who is logged in on this site, or a login page. The new visit also makes the forms of earlier pages invalid:
 * they show the cart of the partner's user, and must not buy the cart of another user.
 */
const continueWithoutSession = Effect.fnUntraced(function* ({ flow, home, partner, visit }: Visitor) {
  const { orderId: _order, sessionId: _session, ...state } = visit
  const token = yield* PartnerVisits.use((visits) =>
    visits.create(partner.organization_id, flow, { ...state, loginProblem: "ended" }, undefined),
  )
  const cookie = (yield* BrowserCookies).cookie("visit", token, visitSeconds)
  return yield* new EarlyReply({ reply: seeOther(home, { "Set-Cookie": cookie }) })
})

/**
 * Returns the acting user: the partner's user, or the user who is logged in on this site. If there is none, it ends
 * the handler with a login page.
 */
export const getActor = Effect.fnUntraced(function* (visitor: Visitor) {
  const { sessionId } = visitor.visit
  if (sessionId !== undefined) {
    const session = yield* BrowserSessions.use((sessions) => sessions.findById(sessionId))
    if (session !== undefined) return session
    return yield* continueWithoutSession(visitor)
  }
  return yield* getLogin(visitor)
})

export const getLogin = Effect.fnUntraced(function* (visitor: Visitor) {
  const session = yield* findLogin(visitor)
  if (session === undefined) return yield* new EarlyReply({ reply: partnerLoginPage(visitor) })
  if (!session.admitted) return yield* new EarlyReply({ reply: partnerCodePage(visitor, session) })
  return session
})

/**
 * Reads a form of the flow and returns it with the visitor. A login form or a cancellation is handled here and ends
 * the handler with a reply.
 */
export const receiveForm = Effect.fnUntraced(function* (
  request: FlowRequest & { readonly rawBody: Uint8Array; readonly address: string },
  flow: PartnerFlow,
) {
  const visitor = yield* findVisitor(request, flow)
  const form = yield* Effect.fromResult(readForm(request.rawBody))
  const browsers = yield* BrowserCookies
  if (browsers.precedesLogin(visitor.browser, request.headers, form)) {
    return yield* new EarlyReply({ reply: seeOther(visitor.home) })
  }
  yield* browsers.checkForm(visitor.browser, request.headers, form)
  // If the form is from another visit, which may have other addresses, the current page is shown first. Forms of the
  // previous release have no `visit` field and are accepted.
  if ((form["visit"] ?? visitMark(visitor.browser)) !== visitMark(visitor.browser)) {
    return yield* new EarlyReply({ reply: seeOther(visitor.home) })
  }
  if (form["action"] === "abort")
    return yield* new EarlyReply({ reply: goBack(visitor, { status: "aborted" }) })
  const session: BrowserSession | undefined = yield* findLogin(visitor)
  const link = { parameters: { redirect: visitor.home }, site: "web" } as const
  const step = yield* handleLoginForm(form, visitor.browser, session, link).pipe(
    Effect.catchTag("LoginFailed", ({ error }) =>
      Effect.fail(
        new EarlyReply({
          reply:
            session === undefined || session.admitted
              ? partnerLoginPage(visitor, { failed: error, email: form["email"] ?? "" })
              : partnerCodePage(visitor, session, error),
        }),
      ),
    ),
  )
  if (step?.kind === "mailed") return yield* new EarlyReply({ reply: mailSentPage(visitor, step) })
  if (step !== undefined) {
    const headers: Record<string, string> = step.cookie === undefined ? {} : { "Set-Cookie": step.cookie }
    return yield* new EarlyReply({ reply: seeOther(visitor.home, headers) })
  }
  if (form["action"] === undefined) {
    return yield* new InvalidRequest({ error: "The form has no action. Reload the page and try again." })
  }
  return { visitor, form }
})

/**
 * Returns the visitor with a cookie that records that the partner's user requested a confirmation mail in this browser.
 * When the link in this mail is opened, the flow continues as this user.
 */
export const rememberRegistration = (visitor: Visitor, userId: string) =>
  BrowserCookies.use((browsers) => {
    const fresh = [...visitor.browser.fresh, browsers.registered(userId)]
    return Effect.succeed({ ...visitor, browser: { ...visitor.browser, fresh } })
  })
