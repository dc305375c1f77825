import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { intentOf, openStripe, tellOf } from "../payments/stripe-server.ts"
import { newShopper } from "../shopper.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings, { peersPossible: true })
const other = await serve(stripe.settings, { database: service.database, peersPossible: true })
const tell = (type: string, object: Record<string, unknown>, to = service) => tellOf(to, type, object)
const pendingOrder = () => stripe.pendingOrder(service)

it("a Stripe refund is applied once when two processes receive its webhooks several times", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  for (let round = 0; round < 6; round++) {
    const { order } = await pendingOrder()
    const intentId = `pi_${order.id}`
    await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, intentId))
    const theirs = {
      object: "refund",
      id: `re_${order.id}`,
      status: "succeeded",
      amount: 50,
      payment_intent: intentId,
      metadata: {},
    }
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        tell(n % 2 === 0 ? "refund.created" : "refund.updated", theirs, n < 4 ? service : other),
      ),
    )
    const { body } = await admin.call("GET", `/orders/${order.id}/refunds`)
    expect(body.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
      [theirs.id, "Refunded"],
    ])
  }
})
