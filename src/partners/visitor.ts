import { Data, Effect, Schema } from "effect"
import { AddressesRefused, parseAddressJson, parseAddressPairs } from "../../schema/directory/address-list.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { InvalidRequest, NotFound } from "../../schema/errors.ts"
import type { OrganizationBranding } from "../../schema/organizations/organization.ts"
import { BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { type BrowserSession, BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { keepLastValues } from "../directory/record-inputs.ts"
import { type Form, readForm, readParameters } from "../http/request/form.ts"
import { Reply } from "../http/response/reply.ts"
import { Organizations } from "../organizations/organization-store.ts"
import { takeLoginForm } from "../sign-in/login-forms.ts"
import { callbackUrl } from "../sign-in/oauth/authorization-request.ts"
import { html } from "../web/html.ts"
import { guestCodePage, guestLoginPage, mailSentPage } from "./login-page.ts"
import { donePage, refusedPage, type Visitor, visitMark } from "./page-shell.ts"
import type { PartnerFlow } from "./visit-store.ts"
import { PartnerVisits, type Visit, visitSeconds } from "./visits.ts"

/** The request is answered already; what would have come after it does not. */
export class Answered extends Data.TaggedError("Answered")<{ readonly reply: Reply<never> }> {}

export const answered = <A, E, R>(effect: Effect.Effect<A, E | Answered, R>) =>
  effect.pipe(
    Effect.catchTag("Answered" as never, ({ reply }: Answered) => Effect.succeed(reply)),
  ) as Effect.Effect<A | Reply<never>, Exclude<E, Answered>, R>

export const noStore = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" }
export const seeOther = (path: string, headers: Record<string, string> = {}) =>
  Reply.redirect(path, { ...noStore, ...headers }, 303)

const suffixes = { get: "", connect: "/link-email", manage: "/manage" } as const
const sentAlong = ["refresh_token", "eid", "addresses", "address_json"] as const
/** For the document; what is wrong with one of them is told to the person as a page. */
export const sentAlongQuery = Object.fromEntries(
  sentAlong.map((name) => [name, Schema.optionalKey(Schema.String)]),
)
const nothing: Visit = { addresses: [], sessionId: undefined, orderId: undefined }

interface Arrival {
  readonly params: { readonly partner_path: string }
  readonly headers: Readonly<Record<string, string>>
  readonly search: string
}

const readSentAlong = (partner: OrganizationBranding, values: Form) => {
  const refuse = (name: string, why: string) =>
    new Answered({ reply: refusedPage(partner, `${partner.name} has sent a ${name} we cannot use. ${why}`) })
  const pairs = parseAddressPairs(values["addresses"] ?? "")
  if (pairs instanceof AddressesRefused) return refuse("list of addresses", pairs.message)
  const fromJson = parseAddressJson(values["address_json"] ?? "")
  if (fromJson instanceof AddressesRefused)
    return refuse("list of addresses (address_json)", fromJson.message)
  // As they will be written: the pages show these.
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

/** Somebody arrives with what the partner sent along: it is kept here, and the browser goes on without it. */
const receive = Effect.fnUntraced(function* (guest: Visitor, values: Form) {
  const { flow, home, partner } = guest
  const state = readSentAlong(partner, values)
  if (state instanceof Answered) return yield* state
  const token = state.refreshToken
  const session =
    token === undefined ? undefined : yield* BrowserSessions.use((sessions) => sessions.find(token))
  if (token !== undefined && session === undefined) {
    const why = `The login ${partner.name} has sent is over, or was replaced by a newer one.`
    return yield* new Answered({ reply: refusedPage(partner, why) })
  }
  if (session !== undefined && !session.admitted) {
    const why = `The login ${partner.name} has sent still waits for its second factor.`
    return yield* new Answered({ reply: refusedPage(partner, why) })
  }
  const login =
    session === undefined ? undefined : { userId: session.account.id, sessionId: session.sessionId }
  const visitToken = yield* PartnerVisits.use((visits) =>
    visits.admit(partner.organization_id, flow, state, login),
  )
  const cookie = (yield* BrowserCookies).cookie("visit", visitToken, visitSeconds)
  return yield* new Answered({ reply: seeOther(home, { "Set-Cookie": cookie }) })
})

const meet = Effect.fnUntraced(function* ({ headers, params }: Arrival, flow: PartnerFlow) {
  const partner = yield* Organizations.use((all) => all.findByPartnerPath(params.partner_path))
  if (partner === undefined) return yield* new NotFound({ error: "No partner of ours has this address." })
  const browser = (yield* BrowserCookies).read(headers)
  const visit =
    browser.visitToken === undefined
      ? undefined
      : yield* PartnerVisits.use((visits) =>
          visits.find(browser.visitToken ?? "", partner.organization_id, flow),
        )
  const home = `/partner/${encodeURIComponent(params.partner_path)}${suffixes[flow]}`
  return { partner, flow, home, browser, visit: visit ?? nothing } satisfies Visitor as Visitor
})

/** Who comes to look at a page. Answers by itself when something was sent along. */
export const welcome = Effect.fnUntraced(function* (arrival: Arrival, flow: PartnerFlow) {
  const guest = yield* meet(arrival, flow)
  const read = readParameters(arrival.search)
  const twice = read === undefined ? undefined : sentAlong.find((name) => read.repeated.has(name))
  if (read === undefined || twice !== undefined) {
    const why = twice === undefined ? "Its address is damaged." : `It has ${twice} more than once.`
    return yield* new Answered({ reply: refusedPage(guest.partner, why) })
  }
  if (sentAlong.some((name) => read.values[name] !== undefined)) return yield* receive(guest, read.values)
  return { guest, query: read.values }
})

export const findLogin = ({ browser }: Visitor) =>
  browser.sessionToken === undefined
    ? Effect.succeed(undefined)
    : BrowserSessions.use((sessions) => sessions.find(browser.sessionToken ?? ""))

/** Who acts in the flow: the partner's user, or whoever has logged in here. Answers with a login page when nobody does. */
export const getActor = Effect.fnUntraced(function* (guest: Visitor) {
  const { sessionId } = guest.visit
  if (sessionId !== undefined) {
    const session = yield* BrowserSessions.use((sessions) => sessions.findById(sessionId))
    if (session !== undefined) return session
    const why = `The login ${guest.partner.name} has sent is over.`
    return yield* new Answered({ reply: refusedPage(guest.partner, why) })
  }
  return yield* getLogin(guest)
})

export const getLogin = Effect.fnUntraced(function* (guest: Visitor) {
  const session = yield* findLogin(guest)
  if (session === undefined) return yield* new Answered({ reply: guestLoginPage(guest) })
  if (!session.admitted) return yield* new Answered({ reply: guestCodePage(guest, session) })
  return session
})

/** A form that was sent from a page of the flow. Logging in and leaving are answered here. */
export const receiveForm = Effect.fnUntraced(function* (
  arrival: Arrival & { readonly rawBody: Uint8Array },
  flow: PartnerFlow,
) {
  const guest = yield* meet(arrival, flow)
  const form = yield* Effect.fromResult(readForm(arrival.rawBody))
  const browsers = yield* BrowserCookies
  if (browsers.precedesLogin(guest.browser, arrival.headers, form)) {
    return yield* new Answered({ reply: seeOther(guest.home) })
  }
  yield* browsers.checkForm(guest.browser, arrival.headers, form)
  // The page was about another visit, with other addresses: what it would do now is shown first. Pages of the version before have no mark.
  if ((form["visit"] ?? visitMark(guest.browser)) !== visitMark(guest.browser)) {
    return yield* new Answered({ reply: seeOther(guest.home) })
  }
  if (form["action"] === "abort") return yield* new Answered({ reply: goBack(guest, { status: "aborted" }) })
  const session: BrowserSession | undefined = yield* findLogin(guest)
  const link = { parameters: { redirect: guest.home }, site: "web" } as const
  const step = yield* takeLoginForm(form, guest.browser, session, link).pipe(
    Effect.catchTag("LoginFailed", ({ error }) =>
      Effect.fail(
        new Answered({
          reply:
            session === undefined || session.admitted
              ? guestLoginPage(guest, { failed: error, email: form["email"] ?? "" })
              : guestCodePage(guest, session, error),
        }),
      ),
    ),
  )
  if (step?.kind === "mailed") return yield* new Answered({ reply: mailSentPage(guest, step.email) })
  if (step !== undefined) {
    const headers: Record<string, string> = step.cookie === undefined ? {} : { "Set-Cookie": step.cookie }
    return yield* new Answered({ reply: seeOther(guest.home, headers) })
  }
  if (form["action"] === undefined) {
    return yield* new InvalidRequest({ error: "The form does not say what to do." })
  }
  return { guest, form }
})

/** Who asks for the mail in the flow goes on as the partner's user when it comes. */
export const remembering = (guest: Visitor, userId: string) =>
  BrowserCookies.use((browsers) => {
    const fresh = [...guest.browser.fresh, browsers.registered(userId)]
    return Effect.succeed({ ...guest, browser: { ...guest.browser, fresh } })
  })

/** Back to the address that was agreed with the partner, with the token it sent. */
export const goBack = (
  guest: Visitor,
  told: { readonly eid?: string; readonly status?: "aborted" },
): Reply<never> => {
  const { partner, visit } = guest
  if (partner.return_link !== "") {
    const address = callbackUrl(partner.return_link, { ...told, refresh_token: visit.refreshToken })
    return Reply.redirect(address, noStore)
  }
  return told.status === "aborted"
    ? donePage(
        guest,
        "Nothing was changed",
        html`<p>You may close this page and go back to ${partner.name}.</p>`,
      )
    : donePage(
        guest,
        "All done",
        html`<p class="emoji huge">${told.eid}</p><p>You may close this page and go back to ${partner.name}.</p>`,
      )
}
