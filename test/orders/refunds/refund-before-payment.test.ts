import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { intentOf, openStripe, tellOf } from "../payments/stripe-server.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)

const refundOf = (intentId: string, cents: number) => ({
  object: "refund",
  id: `re_${intentId}`,
  status: "succeeded",
  amount: cents,
  payment_intent: intentId,
  metadata: {},
})

it("a refund webhook is answered with 503 before the payment is known, and is applied when repeated afterwards", async () => {
  const { buyer, order } = await stripe.pendingOrder(service)
  const intent = intentOf(order.id, order.total_in_cents, `pi_${order.id}`)
  stripe.intents.set(intent.id, intent)
  const tellRefund = () => tellOf(service, "refund.created", refundOf(intent.id, order.total_in_cents))
  expect((await tellRefund()).status).toBe(503)
  expect((await tellOf(service, "payment_intent.succeeded", intent)).status).toBe(200)
  expect((await tellRefund()).status).toBe(200)
  expect((await buyer.order(order.id)).body).toMatchObject({
    refunded_total_in_cents: order.total_in_cents,
    eligible_for_refund: false,
  })
  await expectInvariants(service.sql)
})

it("a refund webhook for a payment that belongs to no order is answered with 200", async () => {
  const elsewhere = intentOf(randomUUID(), 100, "pi_elsewhere")
  stripe.intents.set(elsewhere.id, elsewhere)
  for (const id of [elsewhere.id, "pi_unheard_of"])
    expect((await tellOf(service, "refund.created", refundOf(id, 100))).status).toBe(200)
})
