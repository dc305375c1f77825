import { expect, it } from "vitest"
import { serveDirectory } from "../../directory/directory-service.ts"
import type { Answer } from "../../fixtures/service.ts"
import { makePartner, makeWalletUser } from "../../partners/partner.ts"
import { makeVisitor } from "../../sign-in/oauth/application.ts"
import { card, freshId } from "../shopper.ts"
import { openStripe, tellOf } from "./stripe-server.ts"

const stripe = await openStripe()
const service = await serveDirectory(stripe.settings)

/** The kinds of work of the running requests. */
const runningKinds = async () => {
  const { text } = await service.call("GET", "/metrics")
  return [...text.matchAll(/^\w*http_requests_running\{[^}]*kind="(\w+)"[^}]*\} [1-9]/gm)].map(
    ([, kind]) => kind,
  )
}

/** Sends the request while Stripe does not answer. Returns the kinds of the requests that then wait for Stripe. */
const kindsWaiting = async (send: () => Promise<Answer>) => {
  let answer = () => {}
  const silence = new Promise<void>((resolve) => {
    answer = resolve
  })
  stripe.asked.length = 0
  stripe.how.meanwhile = () => silence
  const sent = send()
  try {
    await expect.poll(() => stripe.asked.length).toBeGreaterThan(0)
    return await runningKinds()
  } finally {
    answer()
    stripe.how.meanwhile = async () => {}
    expect((await sent).status).toBeLessThan(400)
  }
}

const pending = async () => (await stripe.pendingOrder(service)).buyer

it.each<[string, () => Promise<() => Promise<Answer>>]>([
  [
    "a checkout",
    async () => {
      const { call } = await pending()
      await call("POST", "/cart/convert_to_draft")
      return () => call("POST", "/cart/checkout", card)
    },
  ],
  [
    "a return to the cart",
    async () => {
      const { call } = await pending()
      return () => call("POST", "/cart/convert_to_draft")
    },
  ],
  [
    "a cancellation",
    async () => {
      const { call } = await pending()
      return () => call("DELETE", "/cart")
    },
  ],
  [
    "a discount code",
    async () => {
      const { call } = await pending()
      const body = { name: "off", code_type: "Discount", redemption_code: "OFF", discount_in_cents: 100 }
      const { token } = service.admin
      expect((await service.call("POST", "/codes", { token, body })).status).toBe(200)
      return () => call("POST", "/cart/promo_code", { code: "OFF" })
    },
  ],
  [
    "a payment that an administrator books",
    async () => {
      const { order } = await stripe.pendingOrder(service)
      const body = { amount: order.total_in_cents, external_reference: "by hand" }
      const { token } = service.admin
      return () => service.call("POST", `/orders/${order.id}/payment_override`, { token, body })
    },
  ],
  [
    "a deletion of a payment method",
    async () => {
      const { buyer, order } = await stripe.paidOrder(service)
      await tellOf(service, "charge.succeeded", {
        object: "charge",
        metadata: { order_id: order.id },
        payment_method: "pm_1",
        payment_method_details: { card: { brand: "amex", last4: "0005", exp_month: 1, exp_year: 2031 } },
      })
      return () => buyer.call("DELETE", "/payment_methods/pm_1")
    },
  ],
  [
    "a checkout at a partner",
    async () => {
      await makePartner(service)
      const { id, refresh, token } = await makeWalletUser(service, "waiting")
      await service.sql`update app_user set free_limit = 0 where id = ${id}`
      await service.call("POST", "/cart", { token, body: { items: [{ emoji_id: freshId() }] } })
      const visitor = makeVisitor(service)
      await visitor.get(`/partner/octo?${new URLSearchParams({ refresh_token: refresh })}`)
      const cart = await visitor.get("/partner/octo?cart")
      return () => visitor.submit(cart, { action: "card" })
    },
  ],
])("%s that waits for Stripe counts as work of a provider", async (_, prepare) => {
  expect(await kindsWaiting(await prepare())).toEqual(["provider"])
})
