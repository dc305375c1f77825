import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { atSandbox, card, crypto, freshId, freshIds, newShopper, shopper } from "../shopper.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

describe("checkout", () => {
  it("with a card holds the ids and returns the payment data", async () => {
    const buyer = await newShopper(service)
    const [id] = freshIds(1) as [string]
    await buyer.add(id)
    const { body, status } = await buyer.checkout()
    expect(status).toBe(200)
    expect(body.status).toBe("PendingPayment")
    expect(body.seconds_until_expiry).toBeGreaterThan(290)
    expect(body.seconds_until_expiry).toBeLessThanOrEqual(300)
    expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now() + 290_000)
    expect(body.remaining_due_in_cents).toBe(body.total_in_cents)
    expect(body.allowed_actions).toEqual(["checkout", "promo_code", "convert_to_draft", "cancel"])
    expect(body.payment_method_data).toMatchObject({
      method: "CardCheckout",
      methods: [],
      success_url: "https://shop.example/done",
      cancel_url: "https://shop.example/back",
    })
    expect(body.payment_method_data.client_secret).toContain(body.payment_method_data.payment_intent_id)
    const [claim] = await service.sql`select kind, holder from claim where canonical = ${id}`
    expect(claim).toEqual({ kind: "order", holder: body.id })
    const dump = await service.sql`select state::text from entity where id = ${body.id}`
    expect(dump[0]?.["state"]).not.toContain(body.payment_method_data.client_secret)
  })

  it("with cryptocurrency returns an invoice with an amount and an address per currency", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const { body } = await buyer.checkout(crypto)
    expect(body.payment_method_data.method).toBe("CryptoCommerce")
    expect(body.payment_method_data.invoice_id).toMatch(/^inv_/)
    expect(body.payment_method_data.methods.map((m: { currency: string }) => m.currency)).toEqual([
      "BTC",
      "ETH",
      "DOGE",
      "USDC",
    ])
    const usdc = body.payment_method_data.methods[3]
    expect(usdc.amount).toBe(body.total_in_cents / 100)
    expect(usdc.address).toMatch(/^sandbox:usdc:/)
  })

  it("returns the same payment data when it is repeated", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const first = await buyer.checkout()
    const again = await buyer.checkout()
    expect(again.status).toBe(200)
    expect(again.body.payment_method_data).toEqual(first.body.payment_method_data)
    expect(again.body.expires_at).toBe(first.body.expires_at)
  })

  it("returns 409 with the allowed actions when the state of the order does not allow the checkout", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    await buyer.checkout()
    const { body: cancelled } = await buyer.call("DELETE", "/cart")
    const closed = await buyer.call("POST", `/cart/checkout/${cancelled.id}`, crypto)
    expect([closed.status, closed.body.allowed]).toEqual([409, cancelled.allowed_actions])
  })

  it("returns an error that names the missing and invalid fields", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const bare = await buyer.checkout({ method: "CardCheckout" })
    expect(bare.status).toBe(422)
    expect(Object.keys(bare.body.fields)).toEqual(["success_url", "cancel_url"])
    const script = await buyer.checkout({ ...card, success_url: "javascript:alert(1)" })
    expect(script.status).toBe(422)
    expect((await buyer.checkout({ method: "Barter" })).status).toBe(400)
    expect((await buyer.checkout({})).status).toBe(400)
    const amount = await buyer.checkout({ ...card, amount: 1 })
    expect(amount.body.fields.amount[0].code).toBe("only_for_cash")
    const key = await buyer.checkout({ ...card, pubkey: "00".repeat(32) })
    expect(key.body.fields.pubkey[0].code).toBe("unknown")
    const cash = await buyer.checkout({ method: "Cash", amount: 1 })
    expect(cash.status).toBe(403)
    expect(cash.body.scope).toBe("adminCart:update")
  })

  it("requires a confirmed email, except for users with only an `alternate_id`", async () => {
    const unconfirmed = await newShopper(service)
    await service.sql`update app_user set email_verified_at = null where id = ${unconfirmed.id}`
    await unconfirmed.add(freshId())
    const refused = await unconfirmed.checkout()
    expect(refused.status).toBe(422)
    expect(refused.body.fields.email[0].code).toBe("unconfirmed")
    const nameless = await newShopper(service)
    await service.sql`update app_user set email = null, email_verified_at = null, alternate_id = ${randomUUID()}
                       where id = ${nameless.id}`
    await nameless.add(freshId())
    expect((await nameless.checkout()).status).toBe(200)
  })

  it("uses the current keys, name, free limit and email of the buyer", async () => {
    const admin = await newShopper(service, { role: "Admin" })
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const { body: pubkey } = await buyer.call("POST", "/pubkeys")
    const pending = await buyer.checkout({ ...crypto, pubkey })
    expect(pending.status).toBe(200)
    expect(pending.body.user.pubkeys).toEqual([pubkey])
    await buyer.call("PATCH", "/account", { first_name: "Ada" })
    const draft = await buyer.call("POST", "/cart/convert_to_draft")
    expect(draft.body.user.first_name).toBe("Ada")
    await admin.call("PATCH", `/users/${buyer.id}`, { free_limit: 1 })
    expect((await buyer.checkout({ method: "Free" })).body).toMatchObject({
      status: "Paid",
      user: { free_limit: 1, remaining_free_emoji: 0 },
    })
    await buyer.add(freshId())
    expect((await buyer.checkout({ method: "Free" })).body.fields.method[0].code).toBe("free_limit")
    await buyer.call("PATCH", "/account", { email: `${randomUUID()}@example.com` })
    expect((await buyer.checkout()).body.fields.email[0].code).toBe("unconfirmed")
  })

  it("makes later requests to add or remove items fail with 409", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const { body } = await buyer.checkout()
    for (const answer of [
      await buyer.add(freshId()),
      await buyer.call("DELETE", `/cart/cart_items/${body.order_items[0].id}`),
    ]) {
      expect(answer.status).toBe(409)
      expect(answer.body).toMatchObject({ state: "PendingPayment", code: "refused_by_state" })
      expect(answer.body.allowed).toContain("cancel")
    }
  })

  it("by order id returns 404 for the order of another user, and works for the caller's own order", async () => {
    const buyer = await newShopper(service)
    const thief = await newShopper(service)
    const { body } = await buyer.add(freshId())
    const path = `/cart/checkout/${body.id}`
    expect((await thief.call("POST", path, card)).status).toBe(404)
    expect((await thief.call("POST", `/cart/checkout/${randomUUID()}`, card)).status).toBe(404)
    const answer = await buyer.call("POST", path, card)
    expect(answer.body).toMatchObject({ id: body.id, status: "PendingPayment" })
  })

  it("returns 422 when another user holds an id, and the cart marks this item until the id is released", async () => {
    const [id, other] = freshIds(2) as [string, string]
    const fast = await newShopper(service)
    const slow = await newShopper(service)
    await fast.add(id)
    await slow.add(other, id)
    await fast.checkout()
    const lost = await slow.checkout()
    expect(lost.status).toBe(422)
    expect(lost.body.fields.eid).toHaveLength(1)
    expect(lost.body.items).toMatchObject([{ emoji_id: id, marked_invalid_at_reason: "PendingPurchase" }])
    const cart = (await slow.cart()).body
    expect(cart.status).toBe("Draft")
    expect(cart.order_items[0]).not.toHaveProperty("marked_invalid_at")
    expect(cart.order_items[1]).toMatchObject({ marked_invalid_at_reason: "PendingPurchase" })
    expect(Math.abs(Date.parse(cart.order_items[1].marked_invalid_at) - Date.now())).toBeLessThan(60_000)
    const [free] = await service.sql`select 1 from claim where canonical = ${other}`
    expect(free).toBeUndefined()
    await fast.call("POST", "/cart/convert_to_draft")
    expect((await slow.cart()).body.order_items[1]).not.toHaveProperty("marked_invalid_at")
    expect((await slow.checkout()).status).toBe(200)
  })

  it("updates the prices and shows the previous price", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    await service.sql`update entity set state = jsonb_set(state, '{context,items,0,cents}', '123') where owner_id = ${buyer.id}`
    const other = await serve({}, { database: service.database, peersPossible: true })
    const { body } = await other.call("POST", "/cart/checkout", { token: buyer.token, body: card })
    expect(body.order_items[0].previous_unit_price_in_cents).toBe(123)
    expect(body.total_in_cents).toBe(body.order_items[0].unit_price_in_cents)
    expect(body.total_in_cents).not.toBe(123)
    await other.stop()
  })
})

describe("an order pending payment", () => {
  it("releases its ids and cancels the payment when it is converted to a draft", async () => {
    const buyer = await newShopper(service)
    const id = freshId()
    await buyer.add(id)
    const pending = (await buyer.checkout()).body
    const { body, status } = await buyer.call("POST", "/cart/convert_to_draft")
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: pending.id, status: "Draft", order_items: [{ emoji_id: id }] })
    expect(body).not.toHaveProperty("expires_at")
    expect(body).not.toHaveProperty("payment_method_data")
    expect(await service.sql`select 1 from claim where canonical = ${id}`).toHaveLength(0)
    const paid = await atSandbox(service, pending.payment_method_data.session_id, "pay")
    expect(paid.status).toBe(409)
    const again = await buyer.call("POST", "/cart/convert_to_draft")
    expect(again.status).toBe(409)
    expect(again.body.state).toBe("Draft")
  })

  it("is cancelled and returned by `DELETE /cart`, and the next cart is empty", async () => {
    const buyer = await newShopper(service)
    const id = freshId()
    await buyer.add(id)
    const pending = (await buyer.checkout()).body
    const { body } = await buyer.call("DELETE", "/cart")
    expect(body).toMatchObject({ id: pending.id, status: "Cancelled", eligible_for_refund: false })
    expect(await service.sql`select 1 from claim where canonical = ${id}`).toHaveLength(0)
    const next = (await buyer.cart()).body
    expect(next).toMatchObject({ status: "Draft", order_items: [] })
    expect(next.id).not.toBe(pending.id)
    const closed = await buyer.call("POST", `/cart/checkout/${pending.id}`, card)
    expect(closed.status).toBe(409)
    expect(closed.body.state).toBe("Cancelled")
  })
})

describe("checkout without a payment provider", () => {
  it("grants ids without payment up to the free limit of the user", async () => {
    const buyer = await newShopper(service, { freeLimit: 2 })
    await buyer.add(...freshIds(2))
    const { body } = await buyer.checkout({ method: "Free" })
    expect(body).toMatchObject({ status: "Paid", total_in_cents: 0, eligible_for_refund: false })
    expect(body.user.remaining_free_emoji).toBe(0)
    const discounts = body.order_items.filter((item: { item_type: string }) => item.item_type === "Discount")
    expect(discounts).toHaveLength(2)
    expect(discounts[0].parent_id).toBe(body.order_items[0].id)
    expect(discounts[0].unit_price_in_cents).toBe(-body.order_items[0].unit_price_in_cents)
    await buyer.add(freshId())
    const more = await buyer.checkout({ method: "Free" })
    expect(more.status).toBe(422)
    expect(more.body.fields.method[0].code).toBe("free_limit")
    expect((await buyer.cart()).body.status).toBe("Draft")
  })

  it("books cash that an administrator received, also in parts", async () => {
    const admin = await newShopper(service, { role: "Admin" })
    const buyer = await newShopper(service)
    const { body } = await buyer.add(freshId())
    const path = `/cart/checkout/${body.id}`
    const part = await admin.call("POST", path, { method: "Cash", amount: 100, external_reference: "till 7" })
    expect(part.body).toMatchObject({ status: "Draft", remaining_due_in_cents: body.total_in_cents - 100 })
    const rest = await admin.call("POST", path, { method: "Cash" })
    expect(rest.body).toMatchObject({ status: "Paid", remaining_due_in_cents: 0, user_id: buyer.id })
    const [owned] = await service.sql`select owner_id from emoji_id where source = ${`order:${body.id}`}`
    expect(owned?.["owner_id"]).toBe(buyer.id)
    expect(await service.sql`select ledger_audit() as cents`).toEqual([{ cents: 0 }])
  })
})

describe("checkout with two processes", () => {
  it("uses the name and the cart that the buyer has changed through the other process", async () => {
    const one = await serve({}, { peersPossible: true })
    const two = await serve({}, { database: one.database, peersPossible: true })
    const buyer = await newShopper(one)
    const elsewhere = shopper(two, buyer)
    for (const name of ["Ada", "Grace", "Mary"]) {
      await buyer.add(freshId())
      await elsewhere.call("PATCH", "/account", { first_name: name })
      expect((await buyer.checkout(crypto)).body.user.first_name).toBe(name)
      await elsewhere.call("POST", "/cart/convert_to_draft")
    }
    await elsewhere.call("DELETE", "/cart")
    expect((await buyer.checkout(crypto)).status).toBe(422)
  })
})
