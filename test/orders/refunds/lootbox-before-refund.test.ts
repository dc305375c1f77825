import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { intentOf, openStripe, tellOf } from "../payments/stripe-server.ts"
import { atSandbox, card, crypto, freshIds, newShopper, until } from "../shopper.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)

it("a bought lootbox is delivered while a refund of the same order waits for an unavailable provider", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { body: box } = await admin.call("POST", "/lootboxes", { status: "Available", yats: freshIds(2) })
  const buyer = await newShopper(service)
  await buyer.call("POST", "/cart", { items: [{ lootbox_id: box.id }] })
  const { body: order } = await buyer.checkout(card)
  await tellOf(service, "payment_intent.succeeded", intentOf(order.id, 100, `pi_${order.id}`))
  await buyer.call("POST", "/cart/convert_to_draft")
  stripe.how.failing = { status: 500, body: { error: { type: "api_error", message: "down" } } }
  await admin.call("POST", `/orders/${order.id}/refund`, {})
  const { body: again } = await buyer.checkout(crypto)
  await atSandbox(service, again.payment_method_data.session_id, "pay")
  const { body } = await until(
    () => buyer.call("GET", `/lootboxes/${box.id}`),
    (answer) => answer.body.status === "Owned",
  )
  expect(body).toMatchObject({ status: "Owned", owner_id: buyer.id })
})
