import { describe, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { waiting } from "../../fixtures/waiting.ts"
import { codeFor } from "../../transfers/transfer-service.ts"
import { expectInvariants } from "../oracle.ts"
import { openStripe, tellOf } from "../payments/stripe-server.ts"
import { atSandbox, crypto, freshId, freshIds, newShopper, type shopper, until } from "../shopper.ts"

type Shopper = ReturnType<typeof shopper>
interface Item {
  readonly id: string
  readonly emoji_id: string
  readonly released_at?: string
  readonly not_released_reason?: string
  readonly refunded_quantity: number
}

const service = await serve()
const admin = await newShopper(service, { role: "Admin" })

const bought = async (ids: ReadonlyArray<string>, buyer?: Shopper) => {
  const who = buyer ?? (await newShopper(service))
  await who.add(...ids)
  const { body } = await who.checkout(crypto)
  await atSandbox(service, body.payment_method_data.session_id, "pay")
  const { body: order } = await until(
    () => who.order(body.id),
    (answer) => answer.body.status === "Paid",
  )
  const itemOf = (id: string) => order.order_items.find(({ emoji_id }: Item) => emoji_id === id) as Item
  return { buyer: who, order, itemOf }
}
const refund = (orderId: string, body: unknown = {}) => admin.call("POST", `/orders/${orderId}/refund`, body)
const outcomes = ({ order_items }: { readonly order_items: ReadonlyArray<Item> }) =>
  order_items.map((item) => item.not_released_reason ?? (item.released_at === undefined ? "" : "released"))
const owned = async (who: Shopper) => (await who.call("GET", "/emoji_id")).body
const availability = async (id: string) =>
  (await admin.call("GET", `/emoji_id/search?emoji_id=${encodeURIComponent(id)}`)).body.result.availability
const lookup = async (id: string) => (await service.call("GET", `/emoji_id/${encodeURIComponent(id)}`)).status
const balance = async () => (await service.sql`select ledger_audit() as cents`)[0]?.["cents"]
const types = (channel: string) =>
  service.sql`select type from event where channel = ${channel} order by "offset" desc limit 1`

describe("the refund of an item", () => {
  it("releases its id: it can be bought again, its records are removed, and followers of the id are told", async () => {
    const [id, other] = [freshId(), freshId()]
    const fan = await newShopper(service)
    const { buyer, itemOf, order } = await bought([id, other])
    await fan.call("POST", "/user_interests", { emoji_id: id })
    await buyer.call("PATCH", `/emoji_id/${encodeURIComponent(id)}`, {
      insert: [{ tag: "0x4001", data: "https://old.example/" }],
    })
    expect(await lookup(id)).toBe(200)
    const { body, status } = await refund(order.id, { item_ids: [itemOf(id).id] })
    expect([status, outcomes(body)]).toEqual([200, ["released", ""]])
    expect(body.order_items[0]).toMatchObject({ refunded_quantity: 1, released_at: expect.any(String) })
    expect(await owned(buyer)).toEqual([other])
    expect([await lookup(id), await availability(id)]).toEqual([404, "Available"])
    expect(await types("market")).toEqual([{ type: "market.released" }])
    expect(await types(`emoji_id:${id}`)).toEqual([{ type: "emoji_id.released" }])
    await expect
      .poll(() => service.sql`select 1 from interest_notice where user_id = ${fan.id} and canonical = ${id}`)
      .toHaveLength(1)
    await expectInvariants(service.sql)
    const { buyer: next } = await bought([id])
    expect(await owned(next)).toEqual([id])
    expect(await service.sql`select 1 from record where canonical = ${id}`).toHaveLength(0)
    await expectInvariants(service.sql)
  })

  it("keeps the id if the administrator asks for it with keep_ids", async () => {
    const id = freshId()
    const { buyer, order } = await bought([id])
    const { body } = await refund(order.id, { keep_ids: true })
    expect([outcomes(body), body.order_items[0].refunded_quantity]).toEqual([["requested"], 1])
    expect(await owned(buyer)).toEqual([id])
    const wrong = await refund(order.id, { keep_ids: "yes" })
    expect(wrong.status).toBe(400)
  })

  it("keeps an id that the buyer has transferred, and an id that is in transfer", async () => {
    const [away, moving] = [freshId(), freshId()]
    const { buyer, order } = await bought([away, moving])
    const recipient = await newShopper(service)
    const begin = async (eid: string) =>
      (await admin.call("POST", "/transfers", { eid, email: recipient.email, force_transfer: true })).body
    const transfer = await begin(away)
    const code = await codeFor(service, recipient.email, transfer.id)
    await recipient.call("POST", `/transfers/${transfer.id}/receiver_accept`, { code })
    await begin(moving)
    const { body } = await refund(order.id)
    expect(outcomes(body)).toEqual(["not_owned", "in_transfer"])
    expect([await owned(recipient), await owned(buyer)]).toEqual([[away], [moving]])
  })

  it("keeps a minted id, and an id with a valid mint permission", async () => {
    const [minted, permitted] = [freshId(), freshId()]
    const { buyer, order } = await bought([minted, permitted])
    await service.sql`update emoji_id set minted_at = now() where canonical = ${minted}`
    await service.sql`update emoji_id set mint_until = now() + interval '1 hour' where canonical = ${permitted}`
    expect(outcomes((await refund(order.id)).body)).toEqual(["minted", "mint_permitted"])
    expect(await owned(buyer)).toHaveLength(2)
  })

  it("does not take an id that the buyer has bought again with another order", async () => {
    const id = freshId()
    const { buyer, order } = await bought([id])
    await admin.call("DELETE", `/emoji_id/${encodeURIComponent(id)}`)
    await bought([id], buyer)
    expect(outcomes((await refund(order.id)).body)).toEqual(["not_owned"])
    expect(await owned(buyer)).toEqual([id])
  })

  it("of a part of its price keeps the id, and so does a refund that names no item, until everything is refunded", async () => {
    const ids = freshIds(2)
    const { buyer, itemOf, order } = await bought(ids)
    const { body: goodwill } = await refund(order.id, { amount: 1 })
    expect(outcomes(goodwill)).toEqual(["", ""])
    const { body } = await refund(order.id, { item_ids: [itemOf(ids[0]!).id], amount: 1 })
    expect(outcomes(body)).toEqual(["partially_refunded", ""])
    expect(await owned(buyer)).toHaveLength(2)
    const { body: rest } = await refund(order.id)
    expect(outcomes(rest)).toEqual(["released", "released"])
    expect([rest.refunded_total_in_cents, await owned(buyer)]).toEqual([order.total_in_cents, []])
    expect(await balance()).toBe(0)
  })

  it("happens once, also if it is repeated or sent several times at once", async () => {
    const id = freshId()
    const { itemOf, order } = await bought([id])
    const body = { item_ids: [itemOf(id).id] }
    const answers = await Promise.all([1, 2, 3, 4].map(() => refund(order.id, body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422])
    const { buyer: next } = await bought([id])
    expect((await refund(order.id, body)).status).toBe(422)
    expect(await owned(next)).toEqual([id])
    expect((await admin.order(order.id)).body.refunded_total_in_cents).toBe(order.total_in_cents)
    expect(await balance()).toBe(0)
  })

  it("keeps an id whose transfer is committed while the refund is being completed", async () => {
    const id = freshId()
    const { buyer, order } = await bought([id])
    let refunded: ReturnType<typeof refund> | undefined
    await service.sql.begin(async (sql) => {
      await sql`update claim set kind = 'transfer' where canonical = ${id}`
      refunded = refund(order.id)
      await expect.poll(() => waiting(service)).toHaveLength(1)
    })
    expect(outcomes((await refunded)!.body)).toEqual(["in_transfer"])
    expect(await owned(buyer)).toEqual([id])
  })
})

describe("the refund of a lootbox", () => {
  const boughtBox = async () => {
    const yats = freshIds(2)
    const { body: box } = await admin.call("POST", "/lootboxes", { status: "Available", yats })
    const buyer = await newShopper(service)
    await buyer.call("POST", "/cart", { items: [{ lootbox_id: box.id }] })
    const { body } = await buyer.checkout(crypto)
    await atSandbox(service, body.payment_method_data.session_id, "pay")
    await until(
      () => buyer.order(body.id),
      (answer) => answer.body.status === "Paid",
    )
    return { box, buyer, orderId: body.id as string, yats }
  }

  it("deletes an unopened lootbox in the same commit and releases its ids", async () => {
    const { box, buyer, orderId, yats } = await boughtBox()
    expect(outcomes((await refund(orderId)).body)).toEqual(["released"])
    expect((await buyer.call("GET", `/lootboxes/${box.id}`)).status).toBe(404)
    expect((await buyer.call("POST", `/lootboxes/${box.id}/open`)).status).toBe(404)
    expect(await availability(yats[0]!)).toBe("Available")
    expect(await types(`lootboxes:${buyer.id}`)).toEqual([{ type: "lootbox.returned" }])
    await bought(yats)
    expect(await balance()).toBe(0)
  })

  it("keeps an opened lootbox and its ids", async () => {
    const { box, buyer, orderId, yats } = await boughtBox()
    await buyer.call("POST", `/lootboxes/${box.id}/open`)
    expect(outcomes((await refund(orderId)).body)).toEqual(["opened"])
    expect(await owned(buyer)).toHaveLength(yats.length)
  })
})

describe("a refund that the provider completes later", () => {
  it("releases the id only when the provider reports it as made, and not again after the money came back", async () => {
    const stripe = await openStripe()
    const live = await serve(stripe.settings)
    const boss = await newShopper(live, { role: "Admin" })
    const { buyer, order } = await stripe.paidOrder(live)
    const owns = async () => (await buyer.call("GET", "/emoji_id")).body.length
    stripe.how.refundStatus = "pending"
    const { body: begun } = await boss.call("POST", `/orders/${order.id}/refund`, {})
    expect([outcomes(begun), await owns()]).toEqual([["", ""], 2])
    const [made] = stripe.refunds
    const report = (status: string) => tellOf(live, "refund.updated", { ...made, status })
    await report("succeeded")
    const read = async () => (await boss.order(order.id)).body
    expect([outcomes(await read()), await owns()]).toEqual([["released", "released"], 0])
    await report("failed")
    expect((await read()).order_items.map(({ refunded_quantity }: Item) => refunded_quantity)).toEqual([0, 0])
    const { body: again } = await boss.call("POST", `/orders/${order.id}/refund`, {})
    expect([again.order_items[0].released_at, again.status]).toEqual([expect.any(String), "Paid"])
  })

  it("keeps an item that was refunded in part if the refund of the rest fails, and releases it with the next one", async () => {
    const stripe = await openStripe()
    const live = await serve(stripe.settings)
    const boss = await newShopper(live, { role: "Admin" })
    const { buyer, order } = await stripe.paidOrder(live)
    const refundOf = (body: unknown) => boss.call("POST", `/orders/${order.id}/refund`, body)
    await refundOf({ item_ids: [order.order_items[0].id], amount: 1 })
    stripe.how.refundStatus = "failed"
    const { body: failed } = await refundOf({})
    expect([outcomes(failed), failed.order_items[0].refunded_quantity]).toEqual([
      ["partially_refunded", ""],
      1,
    ])
    stripe.how.refundStatus = "succeeded"
    expect(outcomes((await refundOf({})).body)).toEqual(["released", "released"])
    const report = (status: string) => tellOf(live, "refund.updated", { ...stripe.refunds.at(-1), status })
    await report("failed")
    const { body: returned } = await boss.order(order.id)
    expect([outcomes(returned), returned.refunded_total_in_cents]).toEqual([["released", "released"], 1])
    expect((await buyer.call("GET", "/emoji_id")).body).toEqual([])
    await expectInvariants(live.sql)
  })
})
