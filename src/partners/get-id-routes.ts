import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { Conflict, Forbidden, NotFound, Unprocessable, UnsupportedEmoji } from "../../schema/errors.ts"
import { MagicLinks } from "../accounts/login/magic-links.ts"
import type { BrowserSession } from "../accounts/sessions/browser-sessions.ts"
import { Sessions } from "../accounts/sessions/sessions.ts"
import { SecondFactors } from "../accounts/two-factor/second-factors.ts"
import { AppConfig } from "../config/read-config.ts"
import { RateLimits } from "../http/limits/rate-limits.ts"
import type { Form } from "../http/request/form.ts"
import { route } from "../http/route.ts"
import { Carts } from "../orders/cart/cart.ts"
import { addToCart, removeFromCart, returnToDraft } from "../orders/cart/turns.ts"
import { Checkouts } from "../orders/checkout/checkout.ts"
import { Promotions } from "../orders/codes/promotions.ts"
import { Payments } from "../orders/payments/payments.ts"
import { formRow, pageRow } from "../web/page-route.ts"
import { proofPage } from "./cart-page.ts"
import { partnerQuery } from "./link-parameters.ts"
import { mailSentPage } from "./login-page.ts"
import { refusedPage, type Visitor } from "./page-shell.ts"
import { finish, paidPage, params } from "./paid-page.ts"
import { storePartnerIds } from "./partner-id-store.ts"
import { confirmAddresses, findBought, writeAddresses } from "./record-writes.ts"
import { goBack } from "./return.ts"
import { findOwned, showCart, showSearch } from "./shown-ids.ts"
import {
  EarlyReply,
  getActor,
  openFlow,
  receiveForm,
  rememberRegistration,
  seeOther,
  sendEarlyReply,
} from "./visitor.ts"

const getBuyer = Effect.fnUntraced(function* (visitor: Visitor) {
  const actor = yield* getActor(visitor)
  if (!visitor.partner.requires_email || actor.account.email !== null) return actor
  const why = `${visitor.partner.name} requires its users to have an email address. Add one there first.`
  return yield* new EarlyReply({ reply: refusedPage(visitor.partner, why) })
})

const getPage = route({
  ...pageRow,
  id: "partnerGet",
  group: "partner flows",
  summary: "Show partner flow 1: get an id",
  description:
    "Open it in a browser with `refresh_token`, `eid`, `addresses` and `address_json` of the user. The user chooses and buys an id, gets the addresses as records, and returns to the partner's return link.",
  method: "get",
  path: "/partner/:partner_path",
  params,
  search: partnerQuery,
  limit: "write",
  redirects: [303],
  errors: [NotFound],
  handler: (request) =>
    Effect.gen(function* () {
      const { visitor, query } = yield* openFlow(request, "get")
      const actor = yield* getBuyer(visitor)
      return query["cart"] === undefined
        ? yield* showSearch(visitor, actor, query)
        : yield* showCart(visitor, actor)
    }).pipe(sendEarlyReply),
})

const createPage = route({
  ...pageRow,
  id: "partnerCreate",
  group: "partner flows",
  summary: "Redirect to partner flow 1",
  description: "An older address of the flow. The parameters stay.",
  method: "get",
  path: "/partner/:partner_path/create",
  params,
  search: partnerQuery,
  limit: "write",
  redirects: [303],
  errors: [NotFound],
  handler: (request) =>
    Effect.gen(function* () {
      // The parameters of the partner start the visit here, so the token does not appear in a second URL.
      const { query, visitor } = yield* openFlow(request, "get")
      const rest = new URLSearchParams(query).toString()
      return seeOther(rest === "" ? visitor.home : `${visitor.home}?${rest}`)
    }).pipe(sendEarlyReply),
})

const methods = { free: "Free", card: "CardCheckout", crypto: "CryptoCommerce" } as const
type MethodName = keyof typeof methods
const isMethod = (name: string): name is MethodName => Object.hasOwn(methods, name)

const checkOut = Effect.fnUntraced(function* (visitor: Visitor, actor: BrowserSession, method: MethodName) {
  const { webUrl } = yield* AppConfig
  const { principal } = actor
  // The payment method is checked before a two-factor code is requested and the addresses are recorded.
  yield* Payments.use((payments) => payments.checkMethod(methods[method]))
  if (principal.twoFactor) {
    yield* Sessions.use((sessions) => sessions.checkFresh(principal.sessionId)).pipe(
      Effect.catchTag("TwoFactorRequired", () =>
        Effect.fail(new EarlyReply({ reply: proofPage(visitor, method) })),
      ),
    )
  }
  const { order: before } = yield* Carts.use((carts) => carts.get(actor.account.id))
  const orderId = before.context.id
  yield* confirmAddresses(before, visitor.browser.visitToken)
  const { order } = yield* Checkouts.use((checkouts) =>
    checkouts.run(
      principal,
      undefined,
      {
        method: methods[method],
        success_url: `${webUrl}${visitor.home}/paid?order=${orderId}`,
        cancel_url: `${webUrl}${visitor.home}?cart`,
      },
      { organizationId: visitor.partner.organization_id, fees: visitor.partner.fees },
    ),
  )
  if (order.status === "Paid") return yield* finish(visitor, actor, order)
  const link = order.context.intent?.checkoutUrl
  return link === undefined ? yield* showCart(visitor, actor) : seeOther(link)
})

const refusals = {
  spent: "This code was already used. Wait for the next code.",
  wrong: "Incorrect code.",
  locked: "Too many wrong codes were entered for this account. Try again in a few minutes.",
} as const

const prove = Effect.fnUntraced(function* (visitor: Visitor, { principal }: BrowserSession, form: Form) {
  yield* RateLimits.use((limits) => limits.take("code", { account: principal.userId }))
  const { locked_until, proof } = yield* SecondFactors.use((factors) =>
    factors.prove(principal.userId, randomUUID(), (form["code"] ?? "").slice(0, 64), { forLogin: false }),
  )
  const sessions = yield* Sessions
  if (proof === "proven") return yield* sessions.proven(principal.sessionId)
  if (locked_until !== null) yield* sessions.locked(principal.sessionId, locked_until)
  const why = refusals[proof]
  return yield* new EarlyReply({ reply: proofPage(visitor, form["method"] ?? "", why) })
})

const act = Effect.fnUntraced(function* (visitor: Visitor, actor: BrowserSession, form: Form) {
  const userId = actor.account.id
  const action = form["action"] ?? ""
  const cart = seeOther(`${visitor.home}?cart`)
  if (isMethod(action)) return yield* checkOut(visitor, actor, action)
  switch (action) {
    case "choose": {
      const { order } = yield* Carts.use((carts) => carts.get(userId))
      if (order.status === "PendingPayment") yield* returnToDraft(userId)
      const wanted = parseEmojiId(form["emoji_id"] ?? "")
      const isThere =
        wanted._tag === "EmojiId" && order.context.items.some(({ claim }) => claim === wanted.canonical)
      if (!isThere) yield* addToCart(userId, [{ emoji_id: form["emoji_id"] ?? "" }])
      return cart
    }
    case "remove":
      yield* removeFromCart(userId, form["item"] ?? "")
      return cart
    case "pay": {
      const { order } = yield* Carts.use((carts) => carts.get(userId))
      const { intent } = order.context
      const link = order.status === "PendingPayment" ? intent?.checkoutUrl : undefined
      if (link === undefined || intent === undefined) return cart
      if (!(yield* Payments).isPayable(intent)) return cart
      yield* confirmAddresses(order, visitor.browser.visitToken)
      return seeOther(link)
    }
    case "promo": {
      yield* RateLimits.use((limits) => limits.take("code", { account: userId }))
      const code = (form["promo_code"] ?? "").slice(0, 64)
      yield* Promotions.use((promotions) => promotions.apply(userId, code))
      return cart
    }
    case "draft":
      yield* returnToDraft(userId)
      return cart
    case "confirm": {
      yield* MagicLinks.use((links) =>
        links.send({ id: userId }, { redirect: `${visitor.home}?cart` }, "web"),
      )
      const sent = { email: actor.account.email ?? "", what: "login" } as const
      return mailSentPage(yield* rememberRegistration(visitor, userId), sent)
    }
    case "keep": {
      const eid = yield* findOwned(actor, visitor.visit.eid)
      if (eid === undefined) return seeOther(visitor.home)
      yield* writeAddresses(actor.principal, eid, visitor.visit.addresses)
      yield* storePartnerIds(userId, visitor.visit)
      return goBack(visitor, { eids: [eid] })
    }
    case "prove": {
      yield* prove(visitor, actor, form)
      const method = form["method"] ?? ""
      return isMethod(method) ? yield* checkOut(visitor, actor, method) : cart
    }
    default:
      return seeOther(visitor.home)
  }
})

/**
 * Shows the page of the form again, with the reason why the action failed. If the same purchase has already
 * succeeded, for example because the button was pressed twice, it redirects to the partner instead.
 */
const showAgain = Effect.fnUntraced(function* (
  visitor: Visitor,
  actor: BrowserSession,
  form: Form,
  failed: string,
) {
  const action = form["action"] === "prove" ? form["method"] : form["action"]
  const { order } = yield* Carts.use((carts) => carts.get(actor.account.id))
  if (isMethod(action ?? "") && order.context.items.length === 0) {
    const bought = yield* findBought(
      visitor.browser.visitToken,
      visitor.partner.organization_id,
      actor.account.id,
    )
    if (bought !== undefined) return yield* finish(visitor, actor, bought)
  }
  return form["action"] === "choose"
    ? yield* showSearch(visitor, actor, { q: form["emoji_id"] ?? "" }, failed)
    : yield* showCart(visitor, actor, failed)
})

const getForm = route({
  ...formRow,
  id: "partnerGetForm",
  keyless: true,
  group: "partner flows",
  summary: "Submit the form of partner flow 1",
  description: "The page sends it: choose an id, check out, or cancel.",
  path: "/partner/:partner_path",
  params,
  limit: "login",
  work: "provider",
  redirects: [302, 303],
  errors: [Conflict, Forbidden, NotFound, Unprocessable, UnsupportedEmoji],
  handler: (request) =>
    Effect.gen(function* () {
      const { form, visitor } = yield* receiveForm(request, "get")
      const actor = yield* getBuyer(visitor)
      return yield* act(visitor, actor, form).pipe(
        Effect.catchTags({
          Conflict: ({ message }) => showAgain(visitor, actor, form, message),
          EventRefused: ({ message }) => showAgain(visitor, actor, form, message),
          InvalidRequest: ({ message }) => showAgain(visitor, actor, form, message),
          Unprocessable: ({ message }) => showAgain(visitor, actor, form, message),
          UnsupportedEmoji: ({ message }) => showAgain(visitor, actor, form, message),
        }),
      )
    }).pipe(sendEarlyReply),
})

export const partnerGet = [getPage, createPage, getForm, paidPage] as const
