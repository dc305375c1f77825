import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { crypto, freshId, newShopper, until } from "../shopper.ts"
import { openStripe } from "./stripe-server.ts"

it("an order expires in time while Stripe does not answer a request for another order", async () => {
  const stripe = await openStripe()
  const service = await serve({ ...stripe.settings, CART_TTL_SECONDS: "1", SWEEP_INTERVAL_MS: "50" })
  let answer = () => {}
  const silence = new Promise<void>((resolve) => {
    answer = resolve
  })
  stripe.how.meanwhile = ({ path }) => (path.endsWith("/expire") ? silence : Promise.resolve())
  try {
    await stripe.pendingOrder(service)
    await until(
      async () => stripe.asked.some(({ path }) => path.endsWith("/expire")),
      (isAsked) => isAsked,
    )
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const { body } = await buyer.checkout(crypto)
    const ended = await until(
      () => buyer.order(body.id),
      (order) => order.body.status !== "PendingPayment",
    )
    expect(ended.body.status).toBe("Cancelled")
  } finally {
    answer()
  }
})
