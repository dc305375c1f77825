import { Effect, Schema } from "effect"
import { Conflict, InvalidRequest, NotFound } from "../../../schema/errors.ts"
import { fillSessionId } from "../../../schema/web-link.ts"
import { text } from "../../../schema/wire-format.ts"
import { AppConfig } from "../../config/read-config.ts"
import { Reply } from "../../http/response/reply.ts"
import { route } from "../../http/route.ts"
import { notice } from "../../sign-in/login-page.ts"
import type { Content } from "../../web/html.ts"
import { Orders } from "../order-store.ts"
import { Sandbox } from "./sandbox.ts"
import { sandboxCheckoutPage } from "./sandbox-page.ts"
import type { SandboxSession } from "./sandbox-store.ts"

const params = { session: text(128) }
const shared = {
  group: "sandbox",
  auth: "none",
  path: "/sandbox/checkout/:session",
  params,
  errorBody: "page",
} as const

/**
 * Finds a sandbox checkout. If test payments are disabled, all checkouts are answered with 404, also existing ones.
 */
const getSession = Effect.fnUntraced(function* (sessionId: string) {
  const { takesTestPayments } = yield* AppConfig
  const session = takesTestPayments
    ? yield* Sandbox.use((sandbox) => sandbox.findSession(sessionId))
    : undefined
  return session ?? (yield* new NotFound({ error: "Checkout not found." }))
})

/**
 * Shows the checkout with the items of its order. A cancelled checkout has no items, because the items of the order can
 * have changed since.
 */
const showPage = Effect.fnUntraced(function* (session: SandboxSession, message: Content = "") {
  const order =
    session.status === "open" ? yield* Orders.use((orders) => orders.find(session.orderId)) : undefined
  return sandboxCheckoutPage(session, order?.context, message)
})

const showCheckout = route({
  ...shared,
  id: "sandboxCheckout",
  summary: "Show the test payment page",
  description:
    "The buyer's browser comes here from a checkout with the sandbox. 404 in production unless PAYMENTS=sandbox.",
  method: "get",
  success: Schema.Unknown,
  produces: "text/html",
  errors: [NotFound],
  handler: ({ params: { session } }) => Effect.flatMap(getSession(session), (found) => showPage(found)),
})

const actions = ["pay", "underpay", "overpay", "decline"] as const
type Action = (typeof actions)[number]

/** The amount that an action pays, in US cents. `overpay` pays an amount even if nothing is due. */
const centsFor = (action: Action, { cents, paidCents }: SandboxSession): number => {
  const due = Math.max(0, cents - paidCents)
  if (action === "overpay") return due + Math.max(1, Math.floor(cents / 10))
  return action === "underpay" && due > 1 ? Math.floor(due / 2) : due
}

const readAction = (body: Uint8Array): Action | undefined => {
  const given = new URLSearchParams(Buffer.from(body).toString()).get("action")
  return actions.find((action) => action === given)
}

const payCheckout = route({
  ...shared,
  id: "sandboxPay",
  summary: "Pay or decline a test payment",
  description:
    "The form field `action` pays, underpays, overpays or declines. The browser then returns to the shop. 404 in production unless PAYMENTS=sandbox.",
  method: "post",
  rawBody: true,
  bodyLimitBytes: 4096,
  success: Schema.Unknown,
  produces: "text/html",
  redirects: [303],
  errors: [Conflict, InvalidRequest, NotFound],
  handler: ({ params: { session: sessionId }, rawBody }) =>
    Effect.gen(function* () {
      const session = yield* getSession(sessionId)
      const action = readAction(rawBody)
      if (action === undefined)
        return yield* new InvalidRequest({ error: `Unknown action. Use one of: ${actions.join(", ")}.` })
      const sandbox = yield* Sandbox
      if (action === "decline") {
        yield* sandbox.decline(session)
        return yield* showPage(session, notice("Payment declined. You can try again."))
      }
      const cents = centsFor(action, session)
      const isTaken = cents > 0 && (yield* sandbox.pay(session, cents, { onTop: action === "overpay" }))
      // If nothing was recorded and everything is paid, the form was submitted twice. The second submission is not an
      // error.
      const now = isTaken
        ? { ...session, paidCents: session.paidCents + cents }
        : yield* getSession(sessionId)
      if (!isTaken && now.paidCents < now.cents)
        return yield* new Conflict({
          error: now.isReplaced
            ? "This payment was replaced by another payment method. Return to your cart to pay."
            : "This checkout was cancelled or paid in the meantime. Reload the page.",
        })
      if (action !== "underpay" && session.successUrl !== null)
        return Reply.redirect(fillSessionId(session.successUrl, sessionId), {}, 303)
      const message = isTaken
        ? "Payment received."
        : "This checkout is already paid. No further payment was made."
      return yield* showPage(now, notice(message, "good"))
    }),
})

export const sandbox = [showCheckout, payCheckout] as const
