import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { atSandbox, crypto, freshIds, newShopper } from "../shopper.ts"
import { openStripe } from "./stripe-server.ts"

const stripe = await openStripe()

it("a sandbox checkout cannot be paid after the service is configured for real payments", async () => {
  const before = await serve({}, { peersPossible: true })
  const buyer = await newShopper(before)
  await buyer.add(...freshIds(1))
  const { body: order } = await buyer.checkout(crypto)
  await buyer.call("DELETE", "/cart")
  const live = await serve(
    { NODE_ENV: "production", RATE_LIMIT: "on", ...stripe.settings },
    { database: before.database, peersPossible: true },
  )
  const session = order.payment_method_data.session_id
  expect((await atSandbox(live, session, "pay")).status).toBe(404)
  expect((await live.call("GET", `/sandbox/checkout/${session}`)).status).toBe(404)
  const payments = await before.sql`select 1 from sandbox_payment`
  expect(payments).toHaveLength(0)
  expect((await buyer.order(order.id)).body.status).toBe("Cancelled")
})
