import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { Mailboxes } from "../../../actors/mailboxes.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { freshId, freshIds, newShopper } from "../shopper.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

describe("an empty cart", () => {
  it("is a `Draft` with a stable id, and reading the cart stores nothing", async () => {
    const buyer = await newShopper(service)
    const first = await buyer.cart()
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({
      status: "Draft",
      user_id: buyer.id,
      user: { id: buyer.id, email: buyer.email },
      order_items: [],
      total_in_cents: 0,
      remaining_due_in_cents: 0,
      amount_overpaid_in_cents: 0,
      refunded_total_in_cents: 0,
      misc_refunded_total_in_cents: 0,
      eligible_for_refund: false,
    })
    expect(first.body.order_number).toBe(first.body.id.slice(-8))
    expect((await buyer.cart()).body.id).toBe(first.body.id)
    const [row] =
      await service.sql`select count(*)::int as n from entity where owner_id = ${buyer.id} and kind = 'order'`
    expect(row?.["n"]).toBe(0)
    const added = await buyer.add(freshId())
    expect(added.body.id).toBe(first.body.id)
  })

  it("cannot be checked out", async () => {
    const buyer = await newShopper(service)
    const answer = await buyer.checkout()
    expect(answer.status).toBe(422)
    expect(answer.body.fields).toHaveProperty("items")
  })

  it("can be neither read nor changed without authentication", async () => {
    expect((await service.call("GET", "/cart")).status).toBe(401)
    expect((await service.call("POST", "/cart", { body: { items: [] } })).status).toBe(401)
  })
})

describe("adding to the cart", () => {
  it("accepts an id with skin tones, and shows the price and the rhythm score of the id", async () => {
    const buyer = await newShopper(service)
    const answer = await buyer.add("👍🏽🚀👍🚀")
    expect(answer.status).toBe(200)
    const [item] = answer.body.order_items
    expect(item).toMatchObject({
      item_type: "EmojiId",
      order_id: answer.body.id,
      quantity: 1,
      refunded_quantity: 0,
      client_fee_in_cents: 0,
      company_fee_in_cents: 0,
      emoji_id: "👍🏽🚀👍🚀",
    })
    expect(item.unit_price_in_cents).toBeGreaterThanOrEqual(400)
    expect(item.rhythm_score).toBeGreaterThan(0)
    expect(answer.body.total_in_cents).toBe(item.unit_price_in_cents)
    expect(answer.body.allowed_actions).toEqual(["add", "remove", "clear", "checkout"])
    expect((await buyer.cart()).body).toEqual(answer.body)
  })

  it("rejects the same id in two spellings with 422 `eligibility`, in one request and in two", async () => {
    const buyer = await newShopper(service)
    const twice = await buyer.add("🐙👍", "🐙👍🏿")
    expect(twice.status).toBe(422)
    expect(twice.body.fields.eid[0].code).toBe("eligibility")
    expect((await buyer.add("🐙👍")).status).toBe(200)
    const again = await buyer.add("🐙👍🏻")
    expect(again.status).toBe(422)
    expect(again.body.fields.eid[0].code).toBe("eligibility")
    expect((await buyer.cart()).body.order_items).toHaveLength(1)
  })

  it("rejects an invalid emoji id, an empty list and a list of 51 ids with 400", async () => {
    const buyer = await newShopper(service)
    expect((await buyer.add("abc")).status).toBe(400)
    expect((await buyer.add("🚀🚀🚀🚀🚀🚀🚀")).status).toBe(400)
    expect((await buyer.add()).status).toBe(400)
    expect((await buyer.add(...freshIds(51))).status).toBe(400)
    expect((await buyer.call("POST", "/cart", { items: [{ emoji: "🚀" }] })).status).toBe(400)
    expect((await buyer.call("POST", "/cart", { items: [{ emoji_id: 7 }] })).status).toBe(400)
    expect((await buyer.cart()).body.order_items).toEqual([])
  })

  it("rejects the 51st item with 422", async () => {
    const buyer = await newShopper(service)
    expect((await buyer.add(...freshIds(50))).status).toBe(200)
    const more = await buyer.add(freshId())
    expect(more.status).toBe(422)
    expect(more.body.fields.items[0].code).toBe("too_many")
  })

  it("puts all ids into one order when many requests add ids concurrently", async () => {
    const buyer = await newShopper(service)
    const answers = await Promise.all(freshIds(20).map((id) => buyer.add(id)))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect((await buyer.cart()).body.order_items).toHaveLength(20)
  })
})

describe("removing from the cart", () => {
  it("deletes one item or all items, and returns 404 for an unknown item", async () => {
    const buyer = await newShopper(service)
    const { body } = await buyer.add(...freshIds(3))
    const removed = await buyer.call("DELETE", `/cart/cart_items/${body.order_items[1].id}`)
    expect(removed.status).toBe(200)
    expect(removed.body.order_items.map((item: { id: string }) => item.id)).toEqual([
      body.order_items[0].id,
      body.order_items[2].id,
    ])
    expect((await buyer.call("DELETE", `/cart/cart_items/${body.order_items[1].id}`)).status).toBe(404)
    expect((await buyer.call("DELETE", `/cart/cart_items/${randomUUID()}`)).status).toBe(404)
    expect((await buyer.call("DELETE", "/cart/cart_items/nonsense")).status).toBe(400)
    const cleared = await buyer.call("DELETE", "/cart")
    expect(cleared.status).toBe(200)
    expect(cleared.body).toMatchObject({ status: "Draft", id: body.id, order_items: [], total_in_cents: 0 })
  })
})

describe("the number of orders in memory", () => {
  const inMemory = () => service.runtime.runPromise(Mailboxes.useSync((mailboxes) => mailboxes.total().cells))

  it("does not grow when a buyer buys again", async () => {
    const buyer = await newShopper(service, { freeLimit: 10 })
    const buy = async () => {
      await buyer.add(freshId())
      expect((await buyer.checkout({ method: "Free" })).body.status).toBe("Paid")
    }
    await buy()
    const before = await inMemory()
    for (let bought = 0; bought < 4; bought++) await buy()
    expect(await inMemory()).toBe(before)
  })
})
