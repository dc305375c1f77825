import { expect, it } from "vitest"
import { Refunds } from "../../../src/orders/refunds/refunds.ts"
import { serve } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { openStripe } from "../payments/stripe-server.ts"
import { newShopper, until } from "../shopper.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)

const paidOrder = () => stripe.paidOrder(service)
const madeFor = (intentId: string) => stripe.refunds.filter((refund) => refund["payment_intent"] === intentId)
const comesDue = (orderId: string) =>
  service.sql`update entity set due_at = now(), leased_until = null where id = ${orderId}`
/** Whether the next deadline of the order is more than an hour away. */
const isDueLater = async (orderId: string) => {
  const [row] =
    await service.sql`select due_at > now() + interval '1 hour' as later from entity where id = ${orderId}`
  return row?.["later"]
}
const refundsOf = async (orderId: string) => {
  const admin = await newShopper(service, { role: "Admin" })
  return () => admin.call("GET", `/orders/${orderId}/refunds`)
}

it("a pending refund is created only once at Stripe, even after its idempotency key has expired at Stripe", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { intentId, order } = await paidOrder()
  stripe.how.refundStatus = "pending"
  await admin.call("POST", `/orders/${order.id}/refund`, { amount: 100 })
  stripe.how.refundStatus = "succeeded"
  const asked = stripe.asked.length
  await comesDue(order.id)
  await until(
    async () => stripe.asked.length > asked && (await isDueLater(order.id)),
    (isDone) => isDone === true,
  )
  expect(madeFor(intentId)).toHaveLength(1)
  const made = madeFor(intentId)[0]!
  made["status"] = "succeeded"
  await comesDue(order.id)
  const { body } = await until(await refundsOf(order.id), (answer) => answer.body[0].status !== "Pending")
  expect(body).toMatchObject([{ status: "Refunded", amount_in_cents: 100 }])
  expect(madeFor(intentId)).toHaveLength(1)
  await expectInvariants(service.sql)
})

it("a refund that Stripe reports as pending is not checked again within the next hour", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { order } = await paidOrder()
  stripe.how.refundStatus = "pending"
  await admin.call("POST", `/orders/${order.id}/refund`, { amount: 100 })
  stripe.how.refundStatus = "succeeded"
  expect(await isDueLater(order.id)).toBe(true)
})

it("a pending refund stays pending when the service starts without a Stripe key", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { order } = await paidOrder()
  stripe.how.failing = { status: 500, body: { error: { type: "api_error", message: "down" } } }
  await admin.call("POST", `/orders/${order.id}/refund`, { amount: 100 })
  const keyless = await serve({}, { database: service.database })
  await keyless.runtime.runPromise(Refunds.use((refunds) => refunds.resume(order.id)))
  stripe.how.failing = undefined
  expect((await (await refundsOf(order.id))()).body).toMatchObject([{ status: "Pending" }])
})
