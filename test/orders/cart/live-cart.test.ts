import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { intentOf, openStripe, tellOf } from "../payments/stripe-server.ts"
import { newShopper } from "../shopper.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)

type Buyer = Awaited<ReturnType<typeof stripe.pendingOrder>>["buyer"]
/** Returns the data of the last event of the buyer's cart channel, and its offset, which is the number of events. */
const lastSaid = async ({ id }: Buyer) => {
  const [row] = await service.sql`
    select "offset" as said, data from event where channel = ${`cart:${id}`} order by "offset" desc limit 1`
  return { said: Number(row!["said"]), data: row!["data"] }
}
const dueOf = async (buyer: Buyer) => (await buyer.cart()).body.remaining_due_in_cents

const halfPaid = async () => {
  const { buyer, order } = await stripe.pendingOrder(service)
  const intentId = `pi_${order.id}`
  const half = Math.floor(order.total_in_cents / 2)
  await tellOf(service, "payment_intent.succeeded", intentOf(order.id, half, intentId))
  return { buyer, order, half }
}

it("a card checkout publishes two cart events: one for the held ids, and one for the payment page", async () => {
  const { buyer, order } = await stripe.pendingOrder(service)
  expect(order.payment_method_data.checkout_url).toBeDefined()
  const [held] = await service.sql`
    select count(*)::int as said from event where channel = ${`cart:${buyer.id}`} and data->>'status' = 'PendingPayment'`
  expect(held?.["said"]).toBe(2)
})

it("the cart channel shows the new amount due when a part payment is refunded, and when this refund fails", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, half, order } = await halfPaid()
  stripe.how.refundStatus = "pending"
  await admin.call("POST", `/orders/${order.id}/refund`, {})
  stripe.how.refundStatus = "succeeded"
  expect(await dueOf(buyer)).toBe(order.total_in_cents)
  const leaving = await lastSaid(buyer)
  expect(leaving.data.remaining_due_in_cents).toBe(order.total_in_cents)
  await tellOf(service, "refund.failed", { ...stripe.refunds.at(-1)!, status: "failed" })
  expect(await dueOf(buyer)).toBe(order.total_in_cents - half)
  expect((await lastSaid(buyer)).data.remaining_due_in_cents).toBe(order.total_in_cents - half)
})

it("the cart channel gets an event when a payment arrives after the order was converted to a draft", async () => {
  const { buyer, order } = await stripe.pendingOrder(service)
  await buyer.call("POST", "/cart/convert_to_draft")
  const before = await lastSaid(buyer)
  await tellOf(service, "payment_intent.succeeded", intentOf(order.id, 100, `pi_${order.id}`))
  const { data, said } = await lastSaid(buyer)
  expect(said).toBe(before.said + 1)
  expect(data).toMatchObject({ status: "Draft", remaining_due_in_cents: order.total_in_cents - 100 })
  expect(await dueOf(buyer)).toBe(order.total_in_cents - 100)
})
