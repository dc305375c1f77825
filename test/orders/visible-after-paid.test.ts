import { describe, expect, it } from "vitest"
import { createDatabase } from "../fixtures/database.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"
import { codeFor } from "../transfers/transfer-service.ts"
import { freshIds, newShopper, shopper } from "./shopper.ts"

const database = await createDatabase()
const one = await serve({}, { database, peersPossible: true })
const two = await serve({}, { database, peersPossible: true })
/** A process that knows that it is alone answers from the snapshots in its memory. */
const alone = await serve()

const newBoxOrder = async (service: TestService, count = 1) => {
  const admin = await newShopper(service, { role: "Admin" })
  const buyer = await newShopper(service)
  const boxes: Array<string> = []
  for (let n = 0; n < count; n++) {
    const { body } = await admin.call("POST", "/lootboxes", { status: "Available", yats: freshIds(2) })
    boxes.push(body.id)
    // The process now has the lootbox in memory.
    await buyer.call("GET", `/lootboxes/${body.id}`)
  }
  await buyer.call("POST", "/cart", { items: boxes.map((lootbox_id) => ({ lootbox_id })) })
  const { body: order } = await buyer.checkout()
  return { admin, buyer, boxes, order }
}
const statusOf = async (who: ReturnType<typeof shopper>, box: string) =>
  (await who.call("GET", `/lootboxes/${box}`)).body.status
const payInCash = (admin: ReturnType<typeof shopper>, orderId: string) =>
  admin.call("POST", `/cart/checkout/${orderId}`, { method: "Cash" })

describe("a bought lootbox", () => {
  it.each([
    { where: "the only process", service: alone, reader: alone },
    { where: "another process", service: one, reader: two },
  ])("belongs to the buyer in the first answer of $where after Paid", async ({ reader, service }) => {
    const { admin, boxes, buyer, order } = await newBoxOrder(service, 3)
    const { body } = await payInCash(admin, order.id)
    const seen = await Promise.all(boxes.map((box) => statusOf(shopper(reader, buyer), box)))
    expect([body.status, ...seen]).toEqual(["Paid", "Owned", "Owned", "Owned"])
    const list = await shopper(reader, buyer).call("GET", "/lootboxes?status=Owned")
    expect(list.body.data).toHaveLength(3)
    const client = await liveSocket(reader.url)()
    client.send({ type: "connect", token: buyer.token })
    client.send({ type: "subscribe", channel: "lootboxes" })
    const { state } = await client.take({ type: "subscribed" })
    expect(state.map(({ status }: { status: string }) => status)).toEqual(["Owned", "Owned", "Owned"])
    client.close()
  })

  it("is never on sale while its order is Paid, also if the change of the lootbox takes long", async () => {
    const {
      admin,
      boxes: [box = ""],
      buyer,
      order,
    } = await newBoxOrder(one)
    let paid: ReturnType<typeof payInCash> | undefined
    const pair = async () => [(await buyer.order(order.id)).body.status, await statusOf(buyer, box)]
    await one.sql.begin(async (sql) => {
      await sql`select 1 from entity where kind = 'lootbox' and id = ${box} for update`
      paid = payInCash(admin, order.id)
      // Whatever happens first: the answer, or a statement that waits for the lock.
      await Promise.race([paid, expect.poll(() => waiting(one)).not.toHaveLength(0)])
      expect(await pair()).toEqual(["PendingPayment", "Available"])
    })
    expect((await paid)?.body.status).toBe("Paid")
    expect(await pair()).toEqual(["Paid", "Owned"])
  })

  it("is announced on the buyer's channel `lootboxes` once", async () => {
    const { admin, boxes, buyer, order } = await newBoxOrder(alone, 2)
    await payInCash(admin, order.id)
    const events = await alone.sql<Array<{ id: string }>>`
      select data->>'id' as id from event where channel = ${`lootboxes:${buyer.id}`} and type = 'lootbox.owned'`
    expect(events.map(({ id }) => id).sort()).toEqual([...boxes].sort())
  })

  it("stays on sale, and the order unpaid, if the commit of the payment fails", async () => {
    const {
      admin,
      boxes: [box = ""],
      buyer,
      order,
    } = await newBoxOrder(alone)
    await alone.sql`alter table outbox add constraint broken check (kind <> 'order_receipt') not valid`
    expect((await payInCash(admin, order.id)).status).toBe(500)
    await alone.sql`alter table outbox drop constraint broken`
    expect([(await buyer.order(order.id)).body.status, await statusOf(buyer, box)]).toEqual([
      "PendingPayment",
      "Available",
    ])
    expect((await payInCash(admin, order.id)).body.status).toBe("Paid")
    expect(await statusOf(buyer, box)).toBe("Owned")
  })
})

describe("after the answer Paid, the first answer of every process", () => {
  const onBoth = (who: ReturnType<typeof shopper>, path: string) =>
    Promise.all([one, two].map(async (service) => (await shopper(service, who).call("GET", path)).body))

  it("shows the bought id in the list of ids, one free id less in the account, and Taken in the search", async () => {
    const buyer = await newShopper(one)
    const [id = ""] = freshIds(1)
    await onBoth(buyer, "/account")
    await buyer.add(id)
    expect((await buyer.checkout({ method: "Free" })).body.status).toBe("Paid")
    expect(await onBoth(buyer, "/emoji_id")).toEqual([[id], [id]])
    for (const { user } of await onBoth(buyer, "/account")) expect(user.remaining_free_emoji).toBe(0)
    for (const { result } of await onBoth(buyer, `/emoji_id/search?emoji_id=${encodeURIComponent(id)}`))
      expect(result).toMatchObject({ availability: "Taken" })
  })

  it("shows a transfer in pending_transfers from its request to its acceptance", async () => {
    const [sender, recipient] = [await newShopper(one), await newShopper(two)]
    const [eid = ""] = freshIds(1)
    await sender.add(eid)
    await sender.checkout({ method: "Free" })
    const pending = async () =>
      (await onBoth(sender, "/account")).map(({ pending_transfers }) => pending_transfers)
    expect(await pending()).toEqual([[], []])
    const { body } = await sender.call("POST", "/transfers", { eid, email: recipient.email })
    expect(await pending()).toEqual([[eid], [eid]])
    const code = async (email: string) => ({ code: await codeFor(one, email, body.id) })
    await sender.call("POST", `/transfers/${body.id}/sender_accept`, await code(sender.email))
    await recipient.call("POST", `/transfers/${body.id}/receiver_accept`, await code(recipient.email))
    expect(await pending()).toEqual([[], []])
    expect(await onBoth(recipient, "/emoji_id")).toEqual([[eid], [eid]])
    expect(await onBoth(sender, "/emoji_id")).toEqual([[], []])
  })
})
