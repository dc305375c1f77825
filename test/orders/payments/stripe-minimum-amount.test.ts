import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { card, freshIds, newShopper } from "../shopper.ts"
import { openStripe } from "./stripe-server.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)
const price = "line_items[0][price_data][unit_amount]"
stripe.how.refuses = ({ form }) => Number(form.get(price) ?? 50) < 50

it("a code is rejected if it leaves less than the minimum amount of a card payment", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const all_but_20 = { name: "most", code_type: "Discount", redemption_code: "MOST" }
  const buyer = await newShopper(service, { freeLimit: 0 })
  const { body: cart } = await buyer.add(...freshIds(1))
  await admin.call("POST", "/codes", { ...all_but_20, discount_in_cents: cart.total_in_cents - 20 })
  const { body: pending } = await buyer.checkout()
  const coded = await buyer.call("POST", "/cart/promo_code", { code: "MOST" })
  expect.soft(coded.status).toBe(422)
  expect.soft(coded.body.fields?.code).toMatchObject([{ code: "eligibility" }])
  const again = await buyer.checkout()
  expect.soft(again.status).toBe(200)
  expect(again.body.payment_method_data).toEqual(pending.payment_method_data)
  expect(again.body.remaining_due_in_cents).toBe(cart.total_in_cents)
})

it("a card checkout is rejected if less than the minimum is due after a cash payment; cash is still accepted", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const buyer = await newShopper(service, { freeLimit: 0 })
  const { body: cart } = await buyer.add(...freshIds(1))
  const cash = (amount: number) => admin.call("POST", `/cart/checkout/${cart.id}`, { method: "Cash", amount })
  await cash(cart.total_in_cents - 20)
  const refused = await buyer.checkout(card)
  expect(refused.status).toBe(422)
  expect(refused.body.fields.method).toMatchObject([{ code: "too_little" }])
  expect((await cash(20)).body.status).toBe("Paid")
})
