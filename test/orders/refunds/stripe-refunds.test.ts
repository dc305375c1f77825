import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { intentOf, openStripe, tellOf } from "../payments/stripe-server.ts"
import { newShopper, until } from "../shopper.ts"

const stripe = await openStripe()
const { asked } = stripe
const service = await serve(stripe.settings)
const tell = (type: string, object: Record<string, unknown>) => tellOf(service, type, object)
const pendingOrder = () => stripe.pendingOrder(service)

it("money whose refund is pending does not pay for an order", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await pendingOrder()
  const intentId = `pi_${order.id}`
  await buyer.call("POST", "/cart/convert_to_draft")
  await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, intentId))
  asked.length = 0
  stripe.how.refundStatus = "pending"
  expect((await admin.call("POST", `/orders/${order.id}/refund`, {})).status).toBe(200)
  stripe.how.refundStatus = "succeeded"
  const refundId = asked[0]?.form.get("metadata[refund_id]")
  const again = await buyer.checkout()
  expect
    .soft(again.body)
    .toMatchObject({ status: "PendingPayment", remaining_due_in_cents: order.total_in_cents })
  const told = await tell("refund.updated", {
    object: "refund",
    id: "re_1",
    status: "succeeded",
    amount: order.total_in_cents,
    payment_intent: intentId,
    metadata: { order_id: order.id, refund_id: refundId },
  })
  expect.soft(told.status).toBe(200)
  await expectInvariants(service.sql)
})

it("a second refund of an item is rejected while the first refund is pending", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { order } = await pendingOrder()
  const intentId = `pi_${order.id}`
  await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, intentId))
  asked.length = 0
  stripe.how.refundStatus = "pending"
  const cheaper = order.order_items.toSorted(
    (a: { unit_price_in_cents: number }, b: { unit_price_in_cents: number }) =>
      a.unit_price_in_cents - b.unit_price_in_cents,
  )[0]
  const item_ids = [cheaper.id]
  const first = await admin.call("POST", `/orders/${order.id}/refund`, { item_ids })
  const second = await admin.call("POST", `/orders/${order.id}/refund`, { item_ids })
  stripe.how.refundStatus = "succeeded"
  expect(first.status).toBe(200)
  expect(second.status).toBe(422)
  expect(asked.filter(({ path }) => path === "/v1/refunds")).toHaveLength(1)
})

it("an item is refunded once when two refund requests for this item arrive concurrently", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { order } = await pendingOrder()
  await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, `pi_${order.id}`))
  asked.length = 0
  const item_ids = [order.order_items[0].id]
  const answers = await Promise.all(
    [1, 2].map(() => admin.call("POST", `/orders/${order.id}/refund`, { item_ids })),
  )
  expect(asked.filter(({ path }) => path === "/v1/refunds")).toHaveLength(1)
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
})

it.each(["failed", "canceled"])(
  "an order can be refunded again after Stripe reported the status `%s` for the first refund",
  async (status) => {
    const admin = await newShopper(service, { role: "Admin" })
    const { order } = await pendingOrder()
    const intentId = `pi_${order.id}`
    await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, intentId))
    asked.length = 0
    stripe.how.refundStatus = "pending"
    await admin.call("POST", `/orders/${order.id}/refund`, {})
    stripe.how.refundStatus = "succeeded"
    const told = {
      object: "refund",
      id: "re_9",
      status,
      amount: order.total_in_cents,
      payment_intent: intentId,
      metadata: { order_id: order.id, refund_id: asked[0]?.form.get("metadata[refund_id]") },
    }
    await tell(status === "failed" ? "refund.failed" : "refund.updated", told)
    const { body } = await admin.call("GET", `/orders/${order.id}/refunds`)
    expect.soft(body).toMatchObject([{ status: "Failed" }])
    const again = await admin.call("POST", `/orders/${order.id}/refund`, {})
    expect(again.body).toMatchObject({ refunded_total_in_cents: order.total_in_cents })
  },
)

it("a refund request makes one refund when it is repeated with its Idempotency-Key after an error of Stripe", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await pendingOrder()
  await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, `pi_${order.id}`))
  const refund = () =>
    admin.call(
      "POST",
      `/orders/${order.id}/refund`,
      { amount: 100 },
      { headers: { "idempotency-key": order.id } },
    )
  stripe.how.failing = { status: 500, body: { error: { type: "api_error", message: "down" } } }
  await refund()
  stripe.how.failing = undefined
  await refund()
  // The order is made due, so the next sweep requests the pending refund again.
  await service.sql`update entity set due_at = now(), leased_until = null where id = ${order.id}`
  const after = await until(
    async () => (await admin.call("GET", `/orders/${order.id}/refunds`)).body,
    (refunds) => refunds.every(({ status }: { status: string }) => status !== "Pending"),
  )
  expect(after).toMatchObject([{ status: "Refunded", amount_in_cents: 100 }])
  expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(100)
})
