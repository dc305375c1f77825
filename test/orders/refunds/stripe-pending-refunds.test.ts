import { afterEach, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { intentOf, openStripe, tellOf } from "../payments/stripe-server.ts"
import { newShopper } from "../shopper.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)
afterEach(() => {
  stripe.how.refundStatus = "succeeded"
})

const sessions = () => stripe.asked.filter(({ path }) => path === "/v1/checkout/sessions")
const price = "line_items[0][price_data][unit_amount]"

/** Creates an order with half of its price paid, and a pending refund of that half. */
const givingBack = async () => {
  const { buyer, order } = await stripe.pendingOrder(service)
  const half = Math.floor(order.total_in_cents / 2)
  const intentId = `pi_${order.id}`
  await tellOf(service, "payment_intent.succeeded", intentOf(order.id, half, intentId))
  const admin = await newShopper(service, { role: "Admin" })
  stripe.how.refundStatus = "pending"
  await admin.call("POST", `/orders/${order.id}/refund`, {})
  return { buyer, order, half, refund: stripe.refunds.at(-1)! }
}

it("an order requires the full price again while the refund of its part payment is pending", async () => {
  const { buyer, order } = await givingBack()
  const { body } = await buyer.cart()
  expect(body).toMatchObject({
    status: "PendingPayment",
    remaining_due_in_cents: order.total_in_cents,
    payment_method_data: { session_id: expect.any(String) },
  })
  expect(sessions().at(-1)?.form.get(price)).toBe(String(order.total_in_cents))
  expect(sessions()).toHaveLength(3)
})

it("an order requires only the remaining amount when the refund of its part payment has failed", async () => {
  const { buyer, half, order, refund } = await givingBack()
  const whole = (await buyer.cart()).body.payment_method_data.session_id
  await tellOf(service, "refund.failed", { ...refund, status: "failed" })
  const rest = order.total_in_cents - half
  const { body } = await buyer.cart()
  expect(body).toMatchObject({ status: "PendingPayment", remaining_due_in_cents: rest })
  expect(body.payment_method_data.session_id).not.toBe(whole)
  expect(sessions().at(-1)?.form.get(price)).toBe(String(rest))
  expect(stripe.asked.map(({ path }) => path)).toContain(`/v1/checkout/sessions/${whole}/expire`)
  await tellOf(service, "payment_intent.succeeded", intentOf(order.id, rest, `pi_rest_${order.id}`))
  expect((await buyer.order(order.id)).body).toMatchObject({ status: "Paid", amount_overpaid_in_cents: 0 })
  await expectInvariants(service.sql)
})
