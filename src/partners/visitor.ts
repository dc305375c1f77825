import { Data, Effect, Schema } from "effect"
import { AddressesRefused, parseAddressJson, parseAddressPairs } from "../../schema/directory/address-list.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { InvalidRequest, NotFound } from "../../schema/errors.ts"
import type { OrganizationBranding } from "../../schema/organizations/organization.ts"
import { isPartnerLink } from "../../schema/web-link.ts"
import { BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { type BrowserSession, BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { AppConfig } from "../config/config.ts"
import { keepLastValues } from "../directory/record-inputs.ts"
import { type Form, readForm, readParameters } from "../http/request/form.ts"
import { Reply } from "../http/response/reply.ts"
import { Organizations } from "../organizations/organization-store.ts"
import { handleLoginForm } from "../sign-in/login-forms.ts"
import { callbackUrl } from "../sign-in/oauth/authorization-request.ts"
import { html } from "../web/html.ts"
import { mailSentPage, partnerCodePage, partnerLoginPage } from "./login-page.ts"
import { donePage, refusedPage, type Visitor, visitMark } from "./page-shell.ts"
import type { PartnerFlow } from "./visit-store.ts"
import { PartnerVisits, type Visit, visitSeconds } from "./visits.ts"

/** An error that ends the handler early. `sendEarlyReply` sends its reply. */
export class EarlyReply extends Data.TaggedError("EarlyReply")<{ readonly reply: Reply<never> }> {}

export const sendEarlyReply = <A, E, R>(effect: Effect.Effect<A, E | EarlyReply, R>) =>
  effect.pipe(
    Effect.catchTag("EarlyReply" as never, ({ reply }: EarlyReply) => Effect.succeed(reply)),
  ) as Effect.Effect<A | Reply<never>, Exclude<E, EarlyReply>, R>

export const noStore = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" }
export const seeOther = (path: string, headers: Record<string, string> = {}) =>
  Reply.redirect(path, { ...noStore, ...headers }, 303)

const suffixes = { get: "", connect: "/link-email", manage: "/manage" } as const
const partnerParameters = ["refresh_token", "eid", "addresses", "address_json"] as const
/**
 * The query parameters in the OpenAPI document. They are not validated here, because a page explains invalid values
 * to the user.
 */
export const partnerQuery = Object.fromEntries(
  partnerParameters.map((name) => [name, Schema.optionalKey(Schema.String)]),
)
const noVisit: Visit = { addresses: [], sessionId: undefined, orderId: undefined }

interface FlowRequest {
  readonly params: { readonly partner_path: string }
  readonly headers: Readonly<Record<string, string>>
  readonly search: string
}

const readPartnerParameters = (partner: OrganizationBranding, values: Form) => {
  const refuse = (name: string, why: string) =>
    new EarlyReply({ reply: refusedPage(partner, `${partner.name} sent an invalid ${name}. ${why}`) })
  const pairs = parseAddressPairs(values["addresses"] ?? "")
  if (pairs instanceof AddressesRefused) return refuse("list of addresses", pairs.message)
  const fromJson = parseAddressJson(values["address_json"] ?? "")
  if (fromJson instanceof AddressesRefused)
    return refuse("list of addresses (address_json)", fromJson.message)
  // The pages show exactly the addresses that will be written. If a category can have only one value, only the last one
  // is written.
  const addresses = keepLastValues([...pairs, ...fromJson])
  const given = values["eid"] ?? ""
  const eid = given === "" ? undefined : parseEmojiId(given)
  if (eid?._tag === "EmojiIdRefused") return refuse("emoji id (eid)", eid.message)
  const token = values["refresh_token"] ?? ""
  return {
    addresses,
    ...(token === "" ? {} : { refreshToken: token }),
    ...(eid === undefined ? {} : { eid: eid.canonical }),
  }
}

/** Stores the partner's parameters in a visit, and redirects to the same page without the parameters. */
const startVisit = Effect.fnUntraced(function* (visitor: Visitor, values: Form) {
  const { flow, home, partner } = visitor
  const state = readPartnerParameters(partner, values)
  if (state instanceof EarlyReply) return yield* state
  const token = state.refreshToken
  const session =
    token === undefined ? undefined : yield* BrowserSessions.use((sessions) => sessions.find(token))
  if (token !== undefined && session === undefined) {
    const why = `The login that ${partner.name} sent has expired or was replaced by a newer one.`
    return yield* new EarlyReply({ reply: refusedPage(partner, why) })
  }
  if (session !== undefined && !session.admitted) {
    const why = `The login that ${partner.name} sent still needs its two-factor code.`
    return yield* new EarlyReply({ reply: refusedPage(partner, why) })
  }
  const login =
    session === undefined ? undefined : { userId: session.account.id, sessionId: session.sessionId }
  const visitToken = yield* PartnerVisits.use((visits) =>
    visits.create(partner.organization_id, flow, state, login),
  )
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
  const repeatedName =
    read === undefined ? undefined : partnerParameters.find((name) => read.repeated.has(name))
  if (read === undefined || repeatedName !== undefined) {
    const why =
      repeatedName === undefined
        ? "The URL is damaged."
        : `The parameter ${repeatedName} is sent more than once.`
    return yield* new EarlyReply({ reply: refusedPage(visitor.partner, why) })
  }
  if (partnerParameters.some((name) => read.values[name] !== undefined))
    return yield* startVisit(visitor, read.values)
  return { visitor, query: read.values }
})

export const findLogin = ({ browser }: Visitor) =>
  browser.sessionToken === undefined
    ? Effect.succeed(undefined)
    : BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))

/**
 * Returns the acting user: the partner's user, or the user who is logged in on this site. If there is none, it ends
 * the handler with a login page.
 */
export const getActor = Effect.fnUntraced(function* (visitor: Visitor) {
  const { sessionId } = visitor.visit
  if (sessionId !== undefined) {
    const session = yield* BrowserSessions.use((sessions) => sessions.findById(sessionId))
    if (session !== undefined) return session
    const why = `The login that ${visitor.partner.name} sent has ended.`
    return yield* new EarlyReply({ reply: refusedPage(visitor.partner, why) })
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

/**
 * Redirects to the return link of the partner, with the refresh token that the partner sent if the link may get it. If
 * the partner has no return link, it shows a final page.
 */
export const goBack = (
  visitor: Visitor,
  result: { readonly eid?: string; readonly status?: "aborted" },
): Reply<never> => {
  const { linkTakesTokens, partner, visit } = visitor
  if (partner.return_link !== "") {
    const refresh_token = linkTakesTokens ? visit.refreshToken : undefined
    const address = callbackUrl(partner.return_link, { ...result, refresh_token })
    return Reply.redirect(address, noStore)
  }
  return result.status === "aborted"
    ? donePage(
        visitor,
        "Nothing was changed",
        html`<p>You can close this page and return to ${partner.name}.</p>`,
      )
    : donePage(
        visitor,
        "Done",
        html`<p class="emoji huge">${result.eid}</p><p>You can close this page and return to ${partner.name}.</p>`,
      )
}
