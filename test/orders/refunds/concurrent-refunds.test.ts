import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { waiting } from "../../fixtures/waiting.ts"
import { expectInvariants } from "../oracle.ts"
import { openStripe, tellOf } from "../payments/stripe-server.ts"
import { newShopper } from "../shopper.ts"

const stripe = await openStripe()
const one = await serve(stripe.settings, { peersPossible: true })
const two = await serve(stripe.settings, { database: one.database, peersPossible: true })

it.each(["booking", "telling"])(
  'a Stripe refund counts once if one process books it while another process receives its webhook (first request: %s; "telling" is the webhook)',
  async (first) => {
    const { buyer, intentId, order } = await stripe.paidOrder(one)
    const refundId = `re_${order.id}`
    const admin = await newShopper(one, { role: "Admin" })
    const acts = [
      () =>
        admin.call("POST", `/orders/${order.id}/refund_override`, {
          amount: 50,
          external_reference: refundId,
        }),
      () =>
        tellOf(two, "refund.created", {
          object: "refund",
          id: refundId,
          status: "succeeded",
          amount: 50,
          payment_intent: intentId,
          metadata: {},
        }),
    ]
    if (first === "telling") acts.reverse()
    const answers = await one.sql.begin(async (sql) => {
      await sql`select 1 from entity where kind = 'order' and id = ${order.id} for update`
      const under = []
      for (const act of acts) {
        under.push(act())
        await expect.poll(() => waiting(one)).toHaveLength(under.length)
      }
      return { under }
    })
    for (const { status } of await Promise.all(answers.under)) expect(status).toBe(200)
    expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(50)
    await expectInvariants(one.sql)
  },
)
