import { describe, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { card, freshIds, newShopper } from "../shopper.ts"
import { type Asked, intentOf, openStripe, tellOf } from "./stripe-server.ts"

const stripe = await openStripe()
const { asked } = stripe
const service = await serve(stripe.settings)
const tell = (type: string, object: Record<string, unknown>, isSigned = true) =>
  tellOf(service, type, object, !isSigned)
const pendingOrder = (how?: unknown) => stripe.pendingOrder(service, how)

describe("a card checkout through Stripe", () => {
  it("creates one session with the price, the order id and the return URLs", async () => {
    const { buyer, order } = await pendingOrder()
    expect(asked).toHaveLength(1)
    const [ask] = asked as [Asked]
    expect(ask.path).toBe("/v1/checkout/sessions")
    expect(ask.headers).toMatchObject({
      authorization: "Bearer sk_test_1",
      "stripe-version": "2026-10-28.endive",
      "idempotency-key": `${order.id}:1:${order.total_in_cents}`,
    })
    expect(Object.fromEntries(ask.form)).toMatchObject({
      mode: "payment",
      client_reference_id: order.id,
      "line_items[0][price_data][currency]": "usd",
      "line_items[0][price_data][unit_amount]": String(order.total_in_cents),
      "payment_intent_data[metadata][order_id]": order.id,
      success_url: card.success_url,
      cancel_url: card.cancel_url,
      customer_email: buyer.email,
    })
    expect(order.payment_method_data).toMatchObject({
      method: "CardCheckout",
      payment_intent_id: "cs_1",
      session_id: "cs_1",
      checkout_url: "https://pay.example/cs_1",
    })
    await buyer.call("POST", "/cart/convert_to_draft")
    expect(asked[1]?.path).toBe("/v1/checkout/sessions/cs_1/expire")
  })

  it("does not cancel its session after the payment", async () => {
    const { buyer, order } = await pendingOrder()
    const [ask] = asked as [Asked]
    // Stripe reports the intent of a session only after the payment, with the metadata of the session.
    const given = [...ask.form].flatMap(([name, value]) => {
      const [, member] = /^payment_intent_data\[metadata\]\[(\w+)\]$/.exec(name) ?? []
      return member === undefined ? [] : [[member, value] as const]
    })
    const intent = intentOf(order.id, order.total_in_cents, `pi_${order.id}`)
    await tell("payment_intent.succeeded", { ...intent, metadata: Object.fromEntries(given) })
    expect((await buyer.order(order.id)).body.status).toBe("Paid")
    expect(asked.map(({ path }) => path)).toEqual(["/v1/checkout/sessions"])
  })

  it("is paid once by a signed webhook that is sent several times", async () => {
    const { buyer, order } = await pendingOrder()
    const intent = intentOf(order.id, order.total_in_cents, `pi_${order.id}`)
    expect((await tell("payment_intent.succeeded", intent, false)).status).toBe(400)
    expect((await buyer.order(order.id)).body.status).toBe("PendingPayment")
    const told = await Promise.all([1, 2, 3].map(() => tell("payment_intent.succeeded", intent)))
    expect(told.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await buyer.order(order.id)).body).toMatchObject({ status: "Paid", amount_overpaid_in_cents: 0 })
    await tell("charge.succeeded", {
      object: "charge",
      metadata: { order_id: order.id },
      payment_method: "pm_1",
      payment_method_details: {
        card: { brand: "amex", last4: "0005", exp_month: 1, exp_year: 2031, country: "DE" },
      },
    })
    expect((await buyer.call("GET", "/payment_methods")).body).toEqual([
      {
        id: "pm_1",
        payment_type: "card",
        brand: "amex",
        last4: "0005",
        exp_month: 1,
        exp_year: 2031,
        country: "DE",
        is_default: true,
      },
    ])
    asked.length = 0
    expect((await buyer.call("DELETE", "/payment_methods/pm_1")).status).toBe(200)
    expect(asked[0]?.path).toBe("/v1/payment_methods/pm_1/detach")
    await expectInvariants(service.sql)
  })

  it("stays pending and shows the reason when the card is declined, and ignores unrelated events", async () => {
    const { buyer, order } = await pendingOrder()
    const failed = { ...intentOf(order.id, 0), last_payment_error: { message: "Insufficient funds." } }
    expect((await tell("payment_intent.payment_failed", failed)).status).toBe(200)
    expect((await buyer.cart()).body).toMatchObject({
      status: "PendingPayment",
      last_payment_error: "Insufficient funds.",
    })
    expect((await tell("customer.created", { object: "customer" })).status).toBe(200)
    expect((await tell("payment_intent.succeeded", { ...intentOf("x", 5), metadata: {} })).status).toBe(200)
    expect(
      (await tell("payment_intent.succeeded", { ...intentOf(order.id, 5), currency: "eur" })).status,
    ).toBe(200)
    expect((await buyer.cart()).body.remaining_due_in_cents).toBe(order.total_in_cents)
  })

  it("can be refunded through Stripe, and also counts refunds that were made in the Stripe dashboard", async () => {
    const admin = await newShopper(service, { role: "Admin" })
    const { buyer, order } = await pendingOrder()
    const intentId = `pi_${order.id}`
    await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, intentId))
    asked.length = 0
    const { body } = await admin.call("POST", `/orders/${order.id}/refund`, { amount: 100 })
    expect(body.refunded_total_in_cents).toBe(100)
    const [ask] = asked as [Asked]
    expect(Object.fromEntries(ask.form)).toMatchObject({
      payment_intent: intentId,
      amount: "100",
      "metadata[order_id]": order.id,
    })
    const ours = {
      object: "refund",
      id: "re_1",
      status: "succeeded",
      amount: 100,
      payment_intent: intentId,
      metadata: { order_id: order.id, refund_id: ask.form.get("metadata[refund_id]") },
    }
    await tell("refund.updated", ours)
    const theirs = {
      object: "refund",
      id: "re_2",
      status: "succeeded",
      amount: 50,
      payment_intent: intentId,
      metadata: {},
    }
    await tell("refund.created", theirs)
    await tell("refund.updated", theirs)
    expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(150)
    await expectInvariants(service.sql)
  })
})

describe("a wallet payment through Stripe", () => {
  it("returns a payment intent and its client secret", async () => {
    const { order } = await pendingOrder({ method: "WalletPay" })
    expect(asked[0]?.path).toBe("/v1/payment_intents")
    expect(order.payment_method_data).toMatchObject({
      payment_intent_id: "pi_1",
      client_secret: "pi_1_secret_x",
    })
  })

  it("is still listed after the encryption key of its client secret is lost", async () => {
    const { buyer, order } = await pendingOrder({ method: "WalletPay" })
    await service.sql`update pubkey set sealed_key = null`
    const SECRET_KEYS = `new:${Buffer.alloc(32, 8).toString("base64url")}`
    const after = await serve({ ...stripe.settings, SECRET_KEYS }, { database: service.database })
    const admin = await newShopper(after, { role: "Admin" })
    const { body, status } = await admin.call("GET", `/orders?user_id=${buyer.id}`)
    expect(status).toBe(200)
    expect(body.data).toMatchObject([{ id: order.id, payment_method_data: { client_secret: "" } }])
  })
})

describe("a payment that Stripe rejects", () => {
  it("makes a checkout fail with 503 without Retry-After and leaves the order pending; a repeated checkout succeeds after the correction", async () => {
    const buyer = await newShopper(service)
    await buyer.add(...freshIds(1))
    stripe.how.failing = {
      status: 400,
      body: { error: { type: "invalid_request_error", message: "no such account sk_live_secret" } },
    }
    const down = await buyer.checkout()
    expect([down.status, down.headers.get("retry-after")]).toEqual([503, null])
    expect(down.text).not.toContain("sk_live_secret")
    expect((await buyer.cart()).body.status).toBe("PendingPayment")
    stripe.how.failing = undefined
    const up = await buyer.checkout()
    expect(up.status).toBe(200)
    expect(up.body.payment_method_data.session_id).toMatch(/^cs_/)
    await expectInvariants(service.sql)
  })
})

describe("an outage of Stripe", () => {
  it("makes a checkout fail with 503 and Retry-After", async () => {
    const buyer = await newShopper(service)
    await buyer.add(...freshIds(1))
    stripe.how.failing = { status: 500, body: { error: { type: "api_error", message: "down" } } }
    const down = await buyer.checkout()
    stripe.how.failing = undefined
    expect([down.status, down.headers.get("retry-after")]).toEqual([503, "5"])
  })
})
