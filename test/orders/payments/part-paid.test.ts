import { beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { atSandbox, crypto, freshIds, newShopper, until } from "../shopper.ts"

let service: TestService
beforeAll(async () => {
  service = await serve({})
})

const halfPaidCart = async (freeLimit: number) => {
  const buyer = await newShopper(service, { freeLimit })
  await buyer.add(...freshIds(2))
  const { body: pending } = await buyer.checkout(crypto)
  await atSandbox(service, pending.payment_method_data.session_id, "underpay")
  await until(
    () => buyer.order(pending.id),
    ({ body }) => body.remaining_due_in_cents < pending.total_in_cents,
  )
  return { buyer, pending }
}

/** Creates an order with half of its price paid, and applies a code that reduces the price below the paid amount. */
const coveredCart = async (freeLimit: number) => {
  const admin = await newShopper(service, { role: "Admin" })
  await admin.call("POST", "/codes", {
    name: "three quarters",
    code_type: "Discount",
    discount_as_percentage: 75,
    redemption_code: "PART75",
  })
  const { buyer, pending } = await halfPaidCart(freeLimit)
  const { body: coded } = await buyer.call("POST", "/cart/promo_code", { code: "PART75" })
  expect(coded).toMatchObject({ remaining_due_in_cents: 0 })
  return { buyer, pending, coded }
}

it("a checkout completes a partly paid order after a code has reduced the amount due to zero", async () => {
  const { buyer, pending } = await coveredCart(0)
  await buyer.checkout(crypto)
  expect((await buyer.order(pending.id)).body.status).toBe("Paid")
  await expectInvariants(service.sql)
})

it.each([0, 2])(
  "a `Free` checkout does not reduce the remaining free ids if earlier payments cover the price (free limit: %i)",
  async (freeLimit) => {
    const { buyer, coded, pending } = await coveredCart(freeLimit)
    const { body } = await buyer.checkout({ method: "Free" })
    expect(body).toMatchObject({ status: "Paid", total_in_cents: coded.total_in_cents })
    expect(body.user.remaining_free_emoji).toBe(freeLimit)
    expect(body.amount_overpaid_in_cents).toBe(Math.floor(pending.total_in_cents / 2) - coded.total_in_cents)
    await expectInvariants(service.sql)
  },
)

it.each([0, 1])(
  "a `Free` checkout of a draft that is already paid does not reduce the remaining free ids (free limit: %i)",
  async (freeLimit) => {
    const { buyer, pending } = await halfPaidCart(freeLimit)
    await buyer.call("POST", "/cart/convert_to_draft")
    const [cheap, dear] = pending.order_items.toSorted(
      (a: { unit_price_in_cents: number }, b: typeof a) => a.unit_price_in_cents - b.unit_price_in_cents,
    )
    const { body: draft } = await buyer.call("DELETE", `/cart/cart_items/${dear.id}`)
    expect(draft).toMatchObject({ status: "Draft", remaining_due_in_cents: 0 })
    const { body } = await buyer.checkout({ method: "Free" })
    expect(body).toMatchObject({ status: "Paid", total_in_cents: cheap.unit_price_in_cents })
    expect(body.user.remaining_free_emoji).toBe(freeLimit)
    await expectInvariants(service.sql)
  },
)
