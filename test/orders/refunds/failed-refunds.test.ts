import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { openStripe, tellOf } from "../payments/stripe-server.ts"
import { newShopper } from "../shopper.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)

const paidOrder = async () => {
  const { buyer, intentId, order } = await stripe.paidOrder(service)
  const admin = await newShopper(service, { role: "Admin" })
  const refund = (body: unknown = {}) => admin.call("POST", `/orders/${order.id}/refund`, body)
  /** A refund made in the Stripe dashboard. It does not contain our order id, only the id of the payment intent. */
  const theirs = (status: string) => ({
    object: "refund",
    id: `re_${order.id}`,
    status,
    amount: 50,
    payment_intent: intentId,
    metadata: {},
  })
  const refunded = async () => (await buyer.order(order.id)).body.refunded_total_in_cents
  return { admin, buyer, order, intentId, refund, theirs, refunded }
}
const tell = (type: string, refund: Record<string, unknown>) => tellOf(service, type, refund)

it("the money of a failed refund can be refunded again", async () => {
  const { buyer, intentId, order, refund } = await paidOrder()
  await refund()
  const made = stripe.refunds.find(({ payment_intent }) => payment_intent === intentId)!
  await tell("refund.updated", made)
  const failed = { ...made, status: "failed" }
  await tell("refund.failed", failed)
  await tell("refund.failed", failed)
  await tell("refund.updated", made)
  const { body: owed } = await buyer.order(order.id)
  expect.soft(owed).toMatchObject({ refunded_total_in_cents: 0, eligible_for_refund: true })
  const quantities = owed.order_items.map((item: { refunded_quantity: number }) => item.refunded_quantity)
  expect.soft(quantities).toEqual([0, 0])
  await expectInvariants(service.sql)
  const { body } = await refund()
  expect(body).toMatchObject({ refunded_total_in_cents: order.total_in_cents, eligible_for_refund: false })
  await expectInvariants(service.sql)
})

it.each([
  ["if the webhook about its success arrived before", ["succeeded", "failed"]],
  ["if the webhook about its success arrives afterwards", ["failed", "succeeded"]],
] as const)("a failed Stripe refund does not count as refunded, even %s", async (_, told) => {
  const { refunded, theirs } = await paidOrder()
  for (const status of told) await tell("refund.updated", theirs(status))
  expect(await refunded()).toBe(0)
  await expectInvariants(service.sql)
})

it.each(["before", "after"])(
  "a Stripe refund counts once when an administrator books it %s its webhook arrives",
  async (when) => {
    const { admin, order, refunded, theirs } = await paidOrder()
    const body = { amount: 50, external_reference: `re_${order.id}` }
    const book = () => admin.call("POST", `/orders/${order.id}/refund_override`, body)
    if (when === "before") expect((await book()).status).toBe(200)
    await tell("refund.created", theirs("succeeded"))
    if (when === "after") expect((await book()).status).toBe(200)
    expect(await refunded()).toBe(50)
  },
)
