import { describe, expect, it } from "vitest"
import { createDatabase } from "../fixtures/database.ts"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { atSandbox, freshId, freshIds, newShopper } from "../orders/shopper.ts"

/** Requests as shops and their generated SDK send them, each with the answer that they need. */

const database = await createDatabase()
const one = await serve({}, { database, peersPossible: true })
const two = await serve({}, { database, peersPossible: true })
const admin = await newShopper(one, { role: "Admin" })

/** The generated SDK sends a content type with every request, and `null` as the body of a request without one. */
const sdk = (service: TestService, { token }: Pick<TestUser, "token">) => {
  const headers = { "Content-Type": "application/json", accept: "application/json" }
  return (method: string, path: string, body?: unknown) =>
    service.call(method, path, {
      token,
      headers,
      ...(method === "GET" ? {} : { rawBody: JSON.stringify(body ?? null) }),
    })
}
const buyer = async () => {
  const user = await one.user()
  return { ...user, send: sdk(one, user), elsewhere: sdk(two, user) }
}
const card = {
  method: "CardCheckout",
  success_url: "https://shop.example/thanks?order=1",
  cancel_url: "https://shop.example/cart",
}

describe("a shop whose buyer chooses another payment method", () => {
  it("sends the checkout again and gets the same order with the new payment data", async () => {
    const { elsewhere, send } = await buyer()
    await send("POST", "/cart", { items: [{ emoji_id: freshId() }] })
    const { body: first } = await send("POST", "/cart/checkout", card)
    expect(first.allowed_actions).toContain("checkout")
    // The second request of a shop often reaches another process.
    const second = await elsewhere("POST", `/cart/checkout/${first.id}`, {
      method: "CryptoCommerce",
      amount: null,
      external_reference: null,
      success_url: null,
      pubkey: null,
    })
    expect(second.status).toBe(200)
    expect(second.body).toMatchObject({
      id: first.id,
      status: "PendingPayment",
      expires_at: first.expires_at,
      total_in_cents: first.total_in_cents,
      payment_method_data: { method: "CryptoCommerce", invoice_id: expect.any(String) },
    })
    expect(second.body.payment_method_data.methods).toHaveLength(4)
    const old = await one.call("GET", `/sandbox/checkout/${first.payment_method_data.session_id}`)
    expect([old.status, old.text.includes("This payment was replaced")]).toEqual([200, true])
  })

  it("gets 422 for a method that does not exist or lacks its URLs, and the first payment stays", async () => {
    const { send } = await buyer()
    await send("POST", "/cart", { items: [{ emoji_id: freshId() }] })
    const { body: first } = await send("POST", "/cart/checkout", { method: "CryptoCommerce" })
    const noUrls = await send("POST", "/cart/checkout", { method: "CardCheckout" })
    expect([noUrls.status, Object.keys(noUrls.body.fields)]).toEqual([422, ["success_url", "cancel_url"]])
    expect((await send("POST", "/cart/checkout", { method: "Barter" })).status).toBe(400)
    const free = await send("POST", "/cart/checkout", { method: "Cash" })
    expect(free.status).toBe(403)
    expect((await send("GET", "/cart")).body.payment_method_data).toEqual(first.payment_method_data)
  })
})

describe("a shop that asks for the session id in its success_url", () => {
  it("gets the buyer back with the id of the checkout session in place of {CHECKOUT_SESSION_ID}", async () => {
    const { send } = await buyer()
    await send("POST", "/cart", { items: [{ emoji_id: freshId() }] })
    const success_url = "https://shop.example/thanks?session={CHECKOUT_SESSION_ID}"
    const { body, status } = await send("POST", "/cart/checkout", { ...card, success_url })
    expect([status, body.payment_method_data.success_url]).toEqual([200, success_url])
    const session = body.payment_method_data.session_id
    const paid = await one.call("POST", `/sandbox/checkout/${session}`, {
      rawBody: "action=pay",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    })
    expect([paid.status, paid.headers.get("location")]).toEqual([
      303,
      `https://shop.example/thanks?session=${session}`,
    ])
    const curly = await send("POST", "/cart/checkout", {
      ...card,
      success_url: "https://shop.example/{ORDER}",
    })
    expect([curly.status, Object.keys(curly.body.fields)]).toEqual([422, ["success_url"]])
  })
})

describe("a shop that sells lootboxes", () => {
  it("reads the lootbox as Owned in the first request after the order is Paid, from any process", async () => {
    const { elsewhere, id, send } = await buyer()
    const { body: box } = await admin.call("POST", "/lootboxes", { status: "Available", yats: freshIds(2) })
    await elsewhere("GET", `/lootboxes/${box.id}`)
    await send("POST", "/cart", { items: [{ lootbox_id: box.id }] })
    const { body: order } = await send("POST", "/cart/checkout", { method: "CryptoCommerce" })
    const { body: paid } = await admin.call("POST", `/cart/checkout/${order.id}`, { method: "Cash" })
    const { body } = await elsewhere("GET", `/lootboxes/${box.id}`)
    expect([paid.status, body.status, body.owner_id]).toEqual(["Paid", "Owned", id])
    expect((await elsewhere("POST", `/lootboxes/${box.id}/open`)).body.status).toBe("Used")
  })
})

describe("a shop that shows a cart", () => {
  it("gets a total that is the sum of the items that are not marked Taken", async () => {
    const { send } = await buyer()
    const other = await one.user()
    const [kept, lost] = [freshId(), freshId()]
    await send("POST", "/cart", { items: [{ emoji_id: kept }, { emoji_id: lost }] })
    await admin.call("POST", "/emoji_id", { emoji_id: lost, user_id: other.id })
    const { body } = await send("GET", "/cart")
    const [first, second] = body.order_items
    expect(second.marked_invalid_at_reason).toBe("Taken")
    expect(body.total_in_cents).toBe(first.unit_price_in_cents)
    expect(body.remaining_due_in_cents).toBe(first.unit_price_in_cents)
  })
})

describe("the back office of a shop", () => {
  it("refunds an item, reads that its id was released, and sells the id again", async () => {
    const { send } = await buyer()
    const [id, other] = [freshId(), freshId()]
    await send("POST", "/cart", { items: [{ emoji_id: id }, { emoji_id: other }] })
    const { body: order } = await send("POST", "/cart/checkout", { method: "CryptoCommerce" })
    await atSandbox(one, order.payment_method_data.session_id, "pay")
    await expect.poll(async () => (await send("GET", `/orders/${order.id}`)).body.status).toBe("Paid")
    const { body } = await sdk(two, admin)("POST", `/orders/${order.id}/refund`, {
      item_ids: [order.order_items[0].id],
      amount: null,
      reason: "Changed their mind",
    })
    expect(body.order_items).toMatchObject([{ refunded_quantity: 1, released_at: expect.any(String) }, {}])
    expect((await send("GET", "/emoji_id")).body).toEqual([other])
    const next = await buyer()
    const added = await next.send("POST", "/cart", { items: [{ emoji_id: id }] })
    expect([added.status, added.body.order_items[0].marked_invalid_at]).toEqual([200, undefined])
  })
})
