import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { atSandbox, card, crypto, freshIds, newShopper, until } from "../shopper.ts"

const service = await serve({})
const admin = await newShopper(service, { role: "Admin" })

const halfPaid = async () => {
  const buyer = await newShopper(service)
  await buyer.add(...freshIds(2))
  const { body: order } = await buyer.checkout(crypto)
  await atSandbox(service, order.payment_method_data.session_id, "underpay")
  await until(
    () => buyer.order(order.id),
    ({ body }) => body.remaining_due_in_cents < order.total_in_cents,
  )
  return { buyer, order, path: `/orders/${order.id}/refund` }
}

it("an item cannot be refunded while its order is unpaid, but can be refunded after the order is paid", async () => {
  const { buyer, order, path } = await halfPaid()
  const [cheaper] = order.order_items.toSorted(
    (a: { unit_price_in_cents: number }, b: { unit_price_in_cents: number }) =>
      a.unit_price_in_cents - b.unit_price_in_cents,
  )
  const item_ids = [cheaper.id]
  const early = await admin.call("POST", path, { item_ids })
  expect(early).toMatchObject({ status: 422, body: { fields: { item_ids: [{ code: "not_sold" }] } } })
  expect((await admin.call("POST", path, {})).body.remaining_due_in_cents).toBe(order.total_in_cents)

  await buyer.call("POST", "/cart/convert_to_draft")
  const { body: again } = await buyer.checkout(crypto)
  await atSandbox(service, again.payment_method_data.session_id, "pay")
  const { body: paid } = await until(
    () => buyer.order(order.id),
    ({ body }) => body.status === "Paid",
  )
  for (const item of paid.order_items) expect(item.refunded_quantity).toBe(0)
  const { body: late, status } = await admin.call("POST", path, { item_ids })
  expect(status).toBe(200)
  expect(late.order_items.find(({ id }: { id: string }) => id === cheaper.id).refunded_quantity).toBe(1)
  await expectInvariants(service.sql)
})

it("the refund of an item that a code made free is rejected with 422", async () => {
  const redemption_code = `GIFT-${randomUUID().slice(0, 8)}`
  const code = {
    name: "gift",
    code_type: "Discount",
    redemption_code,
    discount_as_percentage: 100,
    max_uses: 1,
  }
  expect((await admin.call("POST", "/codes", code)).status).toBe(200)
  const buyer = await newShopper(service)
  await buyer.add(...freshIds(2))
  await buyer.checkout(card)
  const { body: order } = await buyer.call("POST", "/cart/promo_code", { code: redemption_code })
  await atSandbox(service, order.payment_method_data.session_id, "pay")
  await until(
    () => buyer.order(order.id),
    ({ body }) => body.status === "Paid",
  )
  const gift = order.order_items.find(({ item_type }: { item_type: string }) => item_type === "Discount")
  const asked = await admin.call("POST", `/orders/${order.id}/refund`, { item_ids: [gift.parent_id] })
  expect(asked).toMatchObject({ status: 422, body: { fields: { item_ids: [{ code: "nothing_left" }] } } })
})
