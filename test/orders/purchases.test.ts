import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { expectInvariants } from "./oracle.ts"
import { atSandbox, card, freshId, freshIds, newShopper, until } from "./shopper.ts"

let one: TestService
let two: TestService
let admin: Awaited<ReturnType<typeof newShopper>>
beforeAll(async () => {
  one = await serve({ SWEEP_INTERVAL_MS: "50" }, { peersPossible: true })
  two = await serve({ SWEEP_INTERVAL_MS: "50" }, { database: one.database, peersPossible: true })
  admin = await newShopper(one, { role: "Admin" })
})

describe("a purchase", () => {
  it("is visible immediately in both processes, in lookups, searches and lists", async () => {
    const buyer = await newShopper(one, { freeLimit: 1 })
    const [id] = freshIds(1) as [string]
    const query = `/emoji_id/search?emoji_id=${encodeURIComponent(id)}`
    const before = await two.call("GET", query, { token: buyer.token })
    expect(before.body.result.availability).toBe("Available")
    expect((await two.call("GET", `/emoji_id/${encodeURIComponent(id)}`)).status).toBe(404)
    await buyer.add(id)
    expect((await buyer.checkout({ method: "Free" })).body.status).toBe("Paid")
    for (const at of [one, two]) {
      expect((await at.call("GET", `/emoji_id/${encodeURIComponent(id)}`)).status).toBe(200)
      expect((await at.call("GET", "/emoji_id", { token: buyer.token })).body).toEqual([id])
      expect((await at.call("GET", query, { token: buyer.token })).body.result.availability).toBe("Taken")
      const recent = await at.call("GET", "/emoji_id/recent", { token: buyer.token })
      expect(recent.text).toContain(id)
    }
  })

  it("keeps the skin tones that the buyer chose for an id until the owner deletes them", async () => {
    const buyer = await newShopper(one, { freeLimit: 2 })
    const [plain, rest] = freshIds(2) as [string, string]
    const [canonical, spelled] = [`👍${rest}`, `👍🏽${rest}`]
    await buyer.add(spelled, plain)
    await buyer.checkout({ method: "Free" })
    for (const at of [one, two]) {
      const { body } = await at.call("GET", "/emoji_id", { token: buyer.token })
      expect(body.toSorted()).toEqual([plain, spelled].toSorted())
    }
    const path = `/emoji_id/${encodeURIComponent(canonical)}`
    const [record, ...others] = (await buyer.call("GET", path)).body.result
    expect([record.tag, record.data, others]).toEqual(["0x0001", spelled, []])
    expect((await buyer.call("GET", `/emoji_id/${encodeURIComponent(plain)}`)).body.result).toEqual([])
    expect((await buyer.call("PATCH", path, { delete: [record.hash] })).body).toEqual([canonical])
    expect((await buyer.call("GET", "/emoji_id")).body).toContain(canonical)
  })
})

describe("a lootbox", () => {
  const newBox = async () => {
    const yats = freshIds(2)
    const { body } = await admin.call("POST", "/lootboxes", { status: "Available", yats })
    return { id: body.id as string, yats }
  }
  const addBox = (buyer: typeof admin, id: string) =>
    buyer.call("POST", "/cart", { items: [{ lootbox_id: id }] })

  it("is held for the first buyer who checks out, then paid and opened by this buyer", async () => {
    const box = await newBox()
    const buyer = await newShopper(one)
    const added = await addBox(buyer, box.id)
    expect(added.status).toBe(200)
    expect(added.body.order_items).toMatchObject([
      { item_type: "LootBox", main_id: box.id, main_table: "lootboxes" },
    ])
    expect(added.body.total_in_cents).toBeGreaterThan(0)
    const { body: order } = await buyer.checkout()
    expect(order.status).toBe("PendingPayment")
    const other = await newShopper(two)
    await addBox(other, box.id)
    const lost = await other.checkout()
    expect(lost.status).toBe(422)
    expect(lost.body.items).toMatchObject([{ marked_invalid_at_reason: "PendingPurchase" }])
    expect((await admin.call("DELETE", `/lootboxes/${box.id}`)).status).toBe(409)
    await atSandbox(one, order.payment_method_data.session_id, "pay")
    const owned = await until(
      () => buyer.call("GET", `/lootboxes/${box.id}`),
      ({ body }) => body.status === "Owned",
    )
    expect(owned.body).toMatchObject({ status: "Owned", owner_id: buyer.id })
    expect((await addBox(other, box.id)).status).toBe(404)
    expect((await buyer.call("POST", `/lootboxes/${box.id}/open`)).status).toBe(200)
    const mine = await buyer.call("GET", "/emoji_id")
    expect([...mine.body].sort()).toEqual([...box.yats].sort())
    const [row] =
      await one.sql`select state->'context'->'undelivered' as left, due_at from entity where id = ${order.id}`
    expect(row).toEqual({ left: [], due_at: null })
  })

  it("in a cart is marked `Taken` after its deletion; an id in the cart is marked `Taken` after it is put into a lootbox", async () => {
    const box = await newBox()
    const buyer = await newShopper(one)
    const id = freshId()
    await buyer.call("POST", "/cart", { items: [{ emoji_id: id }, { lootbox_id: box.id }] })
    await admin.call("DELETE", `/lootboxes/${box.id}`)
    await admin.call("POST", "/lootboxes", { status: "Draft", yats: [id] })
    const taken = [{ marked_invalid_at_reason: "Taken" }, { marked_invalid_at_reason: "Taken" }]
    expect((await buyer.cart()).body.order_items).toMatchObject(taken)
    const lost = await buyer.checkout()
    expect(lost).toMatchObject({ status: 422, body: { items: taken } })
    expect(lost.body.error).toContain(`${id} is already taken.`)
  })

  it("can be checked out by another user after the order of the first user is cancelled", async () => {
    const box = await newBox()
    const [first, second] = [await newShopper(one), await newShopper(two)]
    await addBox(first, box.id)
    await first.checkout()
    await first.call("DELETE", "/cart")
    await addBox(second, box.id)
    expect((await second.checkout(card)).status).toBe(200)
    expect((await addBox(second, randomUUID())).status).toBe(404)
    await expectInvariants(one.sql)
  })

  it("cannot be checked out with the method `Free`", async () => {
    const box = await newBox()
    const buyer = await newShopper(one, { freeLimit: 5 })
    await addBox(buyer, box.id)
    expect((await buyer.checkout({ method: "Free" })).body.fields.method[0].code).toBe("free_limit")
  })
})
