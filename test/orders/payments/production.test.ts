import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { Sandbox } from "../../../src/orders/payments/sandbox.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { atSandbox, card, crypto, freshIds, newShopper, shopper, until } from "../shopper.ts"
import { openStripe } from "./stripe-server.ts"

// Three services use one database: development, production, and production with Stripe.
const stripe = await openStripe()
const development = await serve({}, { peersPossible: true })
const beside = { database: development.database, peersPossible: true } as const
const settings = { NODE_ENV: "production", RATE_LIMIT: "on" }
const production = await serve(settings, beside)
const withStripe = await serve({ ...settings, ...stripe.settings }, beside)

const unavailable = (message: string) => ({
  error: message,
  fields: { method: [{ code: "method_unavailable", message }] },
})
const methods = [
  [card, "Card payments are not configured on this server."],
  [{ method: "CardCheckout" }, "Card payments are not configured on this server."],
  [crypto, "CryptoCommerce payments are not available on this server."],
  [{ method: "WalletPay" }, "WalletPay payments are not available on this server."],
] as const

const begin = async (method: unknown = card) => {
  const buyer = await newShopper(development)
  const ids = freshIds(1)
  await buyer.add(...ids)
  const order = (await buyer.checkout(method)).body
  return { buyer, ids, order, session: order.payment_method_data.session_id as string }
}

/** Creates an order that was paid with a test payment in the development service. */
const buy = async () => {
  const begun = await begin()
  await atSandbox(development, begun.session, "pay")
  await until(
    () => begun.buyer.order(begun.order.id),
    ({ body }) => body.status === "Paid",
  )
  await until(
    () => begun.buyer.call("GET", "/payment_methods"),
    ({ body }) => body.length > 0,
  )
  return begun
}

/** Sends a webhook. It is signed with the key that all three services share. */
const tell = async (service: TestService, event: unknown) => {
  const rawBody = JSON.stringify({ id: "evt_1", event })
  const signature = await development.runtime.runPromise(
    Sandbox.use((sandbox) => Effect.sync(() => sandbox.sign(Buffer.from(rawBody)))),
  )
  return service.call("POST", "/webhooks/sandbox", { rawBody, headers: { "sandbox-signature": signature } })
}

describe("a production service without a payment provider", () => {
  it.each(methods)("rejects the checkout %j and does not change the cart", async (method, message) => {
    const buyer = await newShopper(production)
    const ids = freshIds(1)
    const { body: cart } = await buyer.add(...ids)
    const { body, status } = await buyer.checkout(method)
    expect(status).toBe(422)
    expect(body).toMatchObject(unavailable(message))
    expect((await buyer.cart()).body).toMatchObject({ status: "Draft", order_items: [{ emoji_id: ids[0] }] })
    expect(await production.sql`select 1 from claim where canonical = ${ids[0]!}`).toHaveLength(0)
    expect(await production.sql`select 1 from sandbox_intent where order_id = ${cart.id}`).toHaveLength(0)
  })

  it("accepts `Free` checkouts, and cash that an administrator books", async () => {
    const buyer = await newShopper(production)
    await buyer.add(...freshIds(1))
    expect((await buyer.checkout({ method: "Free" })).body.status).toBe("Paid")
    const other = await newShopper(production)
    const { body } = await other.add(...freshIds(1))
    const admin = await newShopper(production, { role: "Admin" })
    const paid = await admin.call("POST", `/cart/checkout/${body.id}`, { method: "Cash" })
    expect(paid.body.status).toBe("Paid")
  })
})

describe.each([
  ["without a payment provider", production],
  ["with Stripe", withStripe],
])("in production %s, an order from an earlier sandbox checkout", (_, live) => {
  it("has no payment page and cannot be paid, not even by a signed webhook", async () => {
    const { buyer, order, session } = await begin()
    expect((await live.call("GET", `/sandbox/checkout/${session}`)).status).toBe(404)
    for (const action of ["pay", "overpay", "decline", "none of these"])
      expect((await atSandbox(live, session, action)).status).toBe(404)
    const told = await tell(live, {
      kind: "captured",
      provider: "sandbox",
      fact: `sandbox:pay_${order.id}`,
      orderId: order.id,
      intentId: order.payment_method_data.payment_intent_id,
      cents: order.total_in_cents,
    })
    expect(told.status).toBe(404)
    const { body } = await shopper(live, buyer).order(order.id)
    expect(body.status).toBe("PendingPayment")
    expect(body.payment_method_data.methods).toEqual([])
    expect(body.payment_method_data).not.toHaveProperty("checkout_url")
    expect(await live.sql`select 1 from journal where order_id = ${order.id}`).toHaveLength(0)
  })

  it("rejects a repeated checkout, and can be converted to a draft", async () => {
    const { buyer } = await begin()
    const here = shopper(live, buyer)
    const again = await here.checkout()
    expect(again.status).toBe(live === withStripe ? 409 : 422)
    expect((await here.call("POST", "/cart/convert_to_draft")).body.status).toBe("Draft")
    const anew = await here.checkout()
    expect(anew.status).toBe(live === withStripe ? 200 : 422)
  })

  it("cannot be refunded through a provider, and the error names `refund_override`", async () => {
    const { buyer, order } = await buy()
    const admin = await newShopper(live, { role: "Admin" })
    const before = stripe.asked.length
    const refused = await admin.call("POST", `/orders/${order.id}/refund`, {})
    expect(refused.status).toBe(422)
    expect(refused.body.fields.provider).toMatchObject([{ code: "method_unavailable" }])
    expect(refused.body.error).toContain("refund_override")
    expect((await admin.call("GET", `/orders/${order.id}/refunds`)).body).toEqual([])
    expect(stripe.asked.length).toBe(before)
    const booked = await admin.call("POST", `/orders/${order.id}/refund_override`, {
      amount: order.total_in_cents,
      external_reference: "given back by hand",
    })
    expect(booked.body.refunded_total_in_cents).toBe(order.total_in_cents)
    expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(order.total_in_cents)
  })

  it("has stored a test card that is missing from the list of payment methods, but can be deleted", async () => {
    const { buyer } = await buy()
    const [method] = (await buyer.call("GET", "/payment_methods")).body
    const here = shopper(live, buyer)
    expect((await here.call("GET", "/payment_methods")).body).toEqual([])
    expect((await here.call("DELETE", `/payment_methods/${method.id}`)).status).toBe(200)
    expect(await live.sql`select 1 from method_to_forget where id = ${method.id}`).toHaveLength(0)
  })
})

it("a production service with Stripe accepts cards and wallets, but no cryptocurrency", async () => {
  const outcomes = []
  for (const method of [card, { method: "WalletPay" }, crypto]) {
    const buyer = await newShopper(withStripe)
    await buyer.add(...freshIds(1))
    outcomes.push((await buyer.checkout(method)).status)
  }
  expect(outcomes).toEqual([200, 200, 422])
})

it("a production service with `PAYMENTS=sandbox` accepts test payments", async () => {
  const service = await serve({ ...settings, PAYMENTS: "sandbox" })
  const buyer = await newShopper(service)
  await buyer.add(...freshIds(1))
  const { body: order } = await buyer.checkout(crypto)
  await atSandbox(service, order.payment_method_data.session_id, "pay")
  const paid = await until(
    () => buyer.order(order.id),
    ({ body }) => body.status === "Paid",
  )
  expect(paid.body.status).toBe("Paid")
})
