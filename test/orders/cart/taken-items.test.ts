import { describe, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { atSandbox, crypto, freshId, freshIds, newShopper } from "../shopper.ts"

const service = await serve()
const admin = await newShopper(service, { role: "Admin" })
const register = (emoji_id: string, user_id: string) => admin.call("POST", "/emoji_id", { emoji_id, user_id })
const priceOf = (
  order: { order_items: Array<{ emoji_id: string; unit_price_in_cents: number }> },
  id: string,
) => order.order_items.find(({ emoji_id }) => emoji_id === id)!.unit_price_in_cents

describe("total_in_cents and remaining_due_in_cents of a draft", () => {
  it("do not contain an item that is marked Taken", async () => {
    const [buyer, other] = [await newShopper(service), await newShopper(service)]
    const [kept, lost] = [freshId(), freshId()]
    const { body: full } = await buyer.add(kept, lost)
    await register(lost, other.id)
    const { body } = await buyer.cart()
    const price = priceOf(full, kept)
    expect([body.total_in_cents, body.remaining_due_in_cents]).toEqual([price, price])
    expect(body.order_items).toHaveLength(2)
  })

  it("contain an item that another order only holds, because the hold can expire", async () => {
    const [buyer, other] = [await newShopper(service), await newShopper(service)]
    const ids = freshIds(2)
    const { body: full } = await buyer.add(...ids)
    await other.add(ids[0]!)
    await other.checkout()
    const { body } = await buyer.cart()
    expect(body.order_items[0].marked_invalid_at_reason).toBe("PendingPurchase")
    expect(body.total_in_cents).toBe(full.total_in_cents)
  })

  it("agree with the answers and live events of later changes, and with the checkout after the item is removed", async () => {
    const [buyer, other] = [await newShopper(service), await newShopper(service)]
    const [kept, lost, more] = [freshId(), freshId(), freshId()]
    const { body: full } = await buyer.add(kept, lost)
    await register(lost, other.id)
    const { body: added } = await buyer.add(more)
    const total = priceOf(full, kept) + priceOf(added, more)
    expect(added.total_in_cents).toBe(total)
    const last = async () => {
      const [event] = await service.sql`select data from event where channel = ${`cart:${buyer.id}`}
                                         order by "offset" desc limit 1`
      return event?.["data"]
    }
    expect(await last()).toMatchObject({ total_in_cents: total, remaining_due_in_cents: total })
    const refused = await buyer.checkout(crypto)
    expect([refused.status, refused.body.fields.eid[0].code]).toEqual([422, "eligibility"])
    const item = added.order_items.find(({ emoji_id }: { emoji_id: string }) => emoji_id === lost)
    const { body: removed } = await buyer.call("DELETE", `/cart/cart_items/${item.id}`)
    expect(removed.total_in_cents).toBe(total)
    expect(await last()).toMatchObject({ total_in_cents: total })
    const { body: pending } = await buyer.checkout(crypto)
    expect([pending.total_in_cents, pending.remaining_due_in_cents]).toEqual([total, total])
    await atSandbox(service, pending.payment_method_data.session_id, "pay")
    await expect.poll(async () => (await buyer.order(pending.id)).body.status).toBe("Paid")
  })
})

it("the total of a cancelled order does not contain an item, and its discount, that is marked Taken", async () => {
  const [buyer, other] = [await newShopper(service), await newShopper(service)]
  const redemption_code = `TAKEN${freshId().length}X`
  await admin.call("POST", "/codes", {
    name: "t",
    code_type: "Discount",
    discount_as_percentage: 50,
    redemption_code,
  })
  const [kept, lost] = [freshId(), freshId()]
  const { body: full } = await buyer.add(kept, lost)
  await buyer.checkout(crypto)
  const { body: cheaper } = await buyer.call("POST", "/cart/promo_code", { code: redemption_code })
  const { body: cancelled } = await buyer.call("DELETE", "/cart")
  expect(cancelled.total_in_cents).toBe(cheaper.total_in_cents)
  await register(lost, other.id)
  const price = priceOf(full, kept)
  expect((await buyer.order(cancelled.id)).body.total_in_cents).toBe(price - Math.round(price / 2))
})
