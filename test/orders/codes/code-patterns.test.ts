import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { crypto, freshId, newShopper } from "../shopper.ts"

const service = await serve()
const admin = await newShopper(service, { role: "Admin" })

const makeCode = async (pattern: unknown) => {
  const redemption_code = `P-${randomUUID().slice(0, 8)}`
  const facts = { name: "gift", code_type: "Discount", discount_as_percentage: 100 }
  return { redemption_code, made: await admin.call("POST", "/codes", { ...facts, redemption_code, pattern }) }
}

it("a code discounts only the ids that match its pattern", async () => {
  const buyer = await newShopper(service)
  const { redemption_code } = await makeCode({ min_length: 5, max_score: 60 })
  const cheap = "🐙🎈🎲🍀🐢"
  const { body: cart } = await buyer.add("🐙", cheap)
  await buyer.checkout(crypto)
  const { body } = await buyer.call("POST", "/cart/promo_code", { code: redemption_code })
  expect(body.order_items.slice(2)).toMatchObject([{ parent_id: cart.order_items[1].id }])
  expect(body.total_in_cents).toBe(cart.order_items[0].unit_price_in_cents)
})

it("a code whose pattern matches no id of the cart is rejected, and no use is counted", async () => {
  const buyer = await newShopper(service)
  const { made, redemption_code } = await makeCode({ min_length: 5 })
  await buyer.add(freshId())
  await buyer.checkout(crypto)
  const refused = await buyer.call("POST", "/cart/promo_code", { code: redemption_code })
  expect([refused.status, refused.body.fields?.code[0].code]).toEqual([422, "eligibility"])
  expect(await service.sql`select uses from code where id = ${made.body.id}`).toEqual([{ uses: 0 }])
})

it("a discount code with an invalid pattern cannot be created", async () => {
  for (const pattern of [{ length: 6 }, { min_length: 6, max_length: 5 }, "AAA"]) {
    const { made } = await makeCode(pattern)
    expect([made.status, Object.keys(made.body.fields ?? {})]).toEqual([422, ["pattern"]])
  }
})
