import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { Sandbox } from "../../../src/orders/payments/sandbox.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { atSandbox, card, crypto, freshIds, newShopper, until } from "../shopper.ts"

let one: TestService
let two: TestService
beforeAll(async () => {
  one = await serve({}, { peersPossible: true })
  two = await serve({}, { database: one.database, peersPossible: true })
})

const sign = (body: string) =>
  one.runtime.runPromise(Effect.map(Sandbox, (sandbox) => sandbox.sign(Buffer.from(body))))

interface Captured {
  readonly orderId: string
  readonly cents: number
  readonly payment?: string
}
const capturedBody = ({ cents, orderId, payment = randomUUID() }: Captured) =>
  JSON.stringify({
    id: `evt_${randomUUID()}`,
    event: {
      kind: "captured",
      provider: "sandbox",
      fact: `sandbox:${payment}`,
      orderId,
      intentId: "pi",
      cents,
    },
  })
const send = async (service: TestService, body: string, signature?: string) =>
  service.call("POST", "/webhooks/sandbox", {
    rawBody: body,
    headers: { "content-type": "application/json", "sandbox-signature": signature ?? (await sign(body)) },
  })

const pendingOrder = async (ids = freshIds(1), how: unknown = crypto) => {
  const buyer = await newShopper(one)
  await buyer.add(...ids)
  const { body } = await buyer.checkout(how)
  expect(body.status).toBe("PendingPayment")
  return { buyer, ids, order: body }
}
const audit = async () => (await one.sql`select ledger_audit() as cents`)[0]?.["cents"]
const journals = async (orderId: string) =>
  (await one.sql`select count(*)::int as n from journal where order_id = ${orderId}`)[0]?.["n"]

describe("a webhook", () => {
  it("is rejected without a recent signature over its body", async () => {
    const { order } = await pendingOrder()
    const body = capturedBody({ orderId: order.id, cents: order.total_in_cents })
    const signature = await sign(body)
    expect((await send(one, body, "")).status).toBe(400)
    expect((await send(one, body, "t=1,v1=00")).status).toBe(400)
    expect((await send(one, `${body} `, signature)).status).toBe(400)
    const old = signature.replace(/t=(\d+)/, (_, t) => `t=${Number(t) - 1000}`)
    expect((await send(one, body, old)).status).toBe(400)
    expect(await journals(order.id)).toBe(0)
    expect((await send(one, body, signature)).status).toBe(200)
    expect(await journals(order.id)).toBe(1)
  })

  it("is applied once when it is sent twenty times to two processes", async () => {
    const { buyer, order } = await pendingOrder(freshIds(2))
    const body = capturedBody({ orderId: order.id, cents: order.total_in_cents })
    const signature = await sign(body)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send(i % 2 === 0 ? one : two, body, signature)),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await journals(order.id)).toBe(1)
    const { body: paid } = await buyer.order(order.id)
    expect(paid).toMatchObject({ status: "Paid", amount_overpaid_in_cents: 0 })
    expect(await audit()).toBe(0)
  })

  it("for a part payment is applied once, even if the webhooks arrive repeatedly and out of order", async () => {
    const { buyer, order } = await pendingOrder(freshIds(3))
    const third = Math.floor(order.total_in_cents / 3)
    const parts = [third, third, order.total_in_cents - 2 * third].map((cents) =>
      capturedBody({ orderId: order.id, cents }),
    )
    const deliveries = [2, 0, 1, 1, 2, 0, 0, 1, 2].map((i) => parts[i]!)
    await Promise.all(deliveries.map((body, i) => send(i % 2 === 0 ? one : two, body)))
    const { body } = await buyer.order(order.id)
    expect(body).toMatchObject({ status: "Paid", amount_overpaid_in_cents: 0 })
    expect(await journals(order.id)).toBe(3)
    expect(await audit()).toBe(0)
  })

  it("for an unknown or invalid order id is answered with 200 and books nothing", async () => {
    expect((await send(one, capturedBody({ orderId: randomUUID(), cents: 1 }))).status).toBe(200)
    expect((await send(one, capturedBody({ orderId: "nonsense", cents: 1 }))).status).toBe(200)
    expect((await one.call("POST", "/webhooks/stripe", { rawBody: "{}" })).status).toBe(404)
    expect(await audit()).toBe(0)
  })
})

describe("a late payment", () => {
  it("pays a cancelled order whose ids are available", async () => {
    const { buyer, ids, order } = await pendingOrder(freshIds(2))
    await buyer.call("DELETE", "/cart")
    await send(two, capturedBody({ orderId: order.id, cents: order.total_in_cents }))
    expect((await buyer.order(order.id)).body).toMatchObject({ status: "Paid" })
    const owned =
      await one.sql`select 1 from emoji_id where canonical = any(${ids as string[]}) and owner_id = ${buyer.id}`
    expect(owned).toHaveLength(2)
  })

  it("stays refundable in full when another user holds one of the ids", async () => {
    const { buyer, ids, order } = await pendingOrder(freshIds(2))
    await buyer.call("DELETE", "/cart")
    const other = await pendingOrder([ids[1]!])
    const body = capturedBody({ orderId: order.id, cents: order.total_in_cents })
    await Promise.all([send(one, body), send(two, body), send(one, body)])
    const late = (await buyer.order(order.id)).body
    expect(late).toMatchObject({
      status: "Cancelled",
      eligible_for_refund: true,
      amount_overpaid_in_cents: order.total_in_cents,
      allowed_actions: ["refund"],
    })
    expect(late.order_items[1]).toMatchObject({ marked_invalid_at_reason: "PendingPurchase" })
    expect(await one.sql`select holder from claim where canonical = ${ids[1]!}`).toEqual([
      { holder: other.order.id },
    ])
    expect(await one.sql`select 1 from claim where canonical = ${ids[0]!}`).toHaveLength(0)
    expect(await audit()).toBe(0)
  })

  it("is credited to an order that was converted to a draft", async () => {
    const { buyer, order } = await pendingOrder()
    await buyer.call("POST", "/cart/convert_to_draft")
    await send(one, capturedBody({ orderId: order.id, cents: order.total_in_cents }))
    expect((await buyer.cart()).body).toMatchObject({
      status: "Draft",
      remaining_due_in_cents: 0,
      eligible_for_refund: true,
    })
    expect((await buyer.checkout(crypto)).body).toMatchObject({ id: order.id, status: "Paid" })
    expect(await audit()).toBe(0)
  })

  it("is shown as overpaid when the order is already paid", async () => {
    const { buyer, order } = await pendingOrder()
    for (let i = 0; i < 2; i++)
      await send(one, capturedBody({ orderId: order.id, cents: order.total_in_cents }))
    expect((await buyer.order(order.id)).body).toMatchObject({
      status: "Paid",
      amount_overpaid_in_cents: order.total_in_cents,
    })
    expect(await audit()).toBe(0)
  })
})

describe("a refund", () => {
  const paidOrder = async (count: number, action = "pay") => {
    const made = await pendingOrder(freshIds(count), action === "pay" ? card : crypto)
    await atSandbox(one, made.order.payment_method_data.session_id, action)
    await until(
      () => made.buyer.order(made.order.id),
      ({ body }) => body.status === "Paid",
    )
    return made
  }

  it("of the whole order marks every item as refunded and leaves nothing to refund", async () => {
    const admin = await newShopper(one, { role: "Admin" })
    const { buyer, order } = await paidOrder(2)
    expect((await buyer.call("POST", `/orders/${order.id}/refund`, {})).status).toBe(403)
    const { body, status } = await admin.call("POST", `/orders/${order.id}/refund`, { reason: "unhappy" })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: "Paid",
      refunded_total_in_cents: order.total_in_cents,
      misc_refunded_total_in_cents: 0,
      eligible_for_refund: false,
      allowed_actions: [],
    })
    expect(body.order_items.map((item: { refunded_quantity: number }) => item.refunded_quantity)).toEqual([
      1, 1,
    ])
    const again = await admin.call("POST", `/orders/${order.id}/refund`, {})
    expect(again.status).toBe(422)
    expect(again.body.fields.amount[0].code).toBe("nothing_left")
    const list = await admin.call("GET", `/orders/${order.id}/refunds`)
    expect(list.body).toMatchObject([
      { status: "Refunded", amount_in_cents: order.total_in_cents, reason: "unhappy" },
    ])
    expect(
      await until(
        async () => (await one.sql`select 1 from sandbox_webhook where delivered_at is null`).length,
        (waiting) => waiting === 0,
      ),
    ).toBe(0)
    expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(order.total_in_cents)
    expect(await audit()).toBe(0)
  })

  it("of the whole order includes the overpaid amount", async () => {
    const { buyer, order } = await pendingOrder(freshIds(2))
    await send(one, capturedBody({ orderId: order.id, cents: order.total_in_cents + 70 }))
    expect((await buyer.order(order.id)).body).toMatchObject({ status: "Paid", amount_overpaid_in_cents: 70 })
    const admin = await newShopper(one, { role: "Admin" })
    const { body } = await admin.call("POST", `/orders/${order.id}/refund`, {})
    expect(body).toMatchObject({
      refunded_total_in_cents: order.total_in_cents + 70,
      misc_refunded_total_in_cents: 70,
      amount_overpaid_in_cents: 0,
      eligible_for_refund: false,
    })
    const [owed] = await one.sql`select coalesce(sum(l.cents), 0)::int as cents from ledger_line l
      join journal j on j.id = l.journal_id where j.order_id = ${order.id} and l.account = 'overpaid'`
    expect(owed).toEqual({ cents: 0 })
  })

  it("can cover one item or an amount, but not more than was paid", async () => {
    const admin = await newShopper(one, { role: "Admin" })
    const { order } = await paidOrder(2)
    const path = `/orders/${order.id}/refund`
    const [first] = order.order_items
    const item = await admin.call("POST", path, { item_ids: [first.id] })
    expect(item.body.refunded_total_in_cents).toBe(first.unit_price_in_cents)
    expect(item.body.order_items[0].refunded_quantity).toBe(1)
    expect((await admin.call("POST", path, { item_ids: [first.id] })).body.fields.item_ids[0].code).toBe(
      "unknown",
    )
    expect((await admin.call("POST", path, { item_ids: [randomUUID()] })).status).toBe(422)
    expect(
      (await admin.call("POST", path, { amount: order.total_in_cents })).body.fields.amount[0].code,
    ).toBe("too_much")
    expect((await admin.call("POST", path, { amount: 0 })).status).toBe(400)
    const part = await admin.call("POST", path, { amount: 7 })
    expect(part.body).toMatchObject({
      misc_refunded_total_in_cents: 7,
      refunded_total_in_cents: first.unit_price_in_cents + 7,
    })
    expect((await admin.call("POST", `/orders/${randomUUID()}/refund`, {})).status).toBe(404)
    expect(await audit()).toBe(0)
  })

  it("with an empty list of items is rejected", async () => {
    const admin = await newShopper(one, { role: "Admin" })
    const { buyer, order } = await paidOrder(1)
    const none = await admin.call("POST", `/orders/${order.id}/refund`, { item_ids: [] })
    expect(none.status).toBe(400)
    expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(0)
  })

  it("requested ten times concurrently returns the paid amount once", async () => {
    const admin = await newShopper(one, { role: "Admin" })
    const { buyer, order } = await paidOrder(1)
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? one : two).call("POST", `/orders/${order.id}/refund`, {
          token: admin.token,
          body: {},
        }),
      ),
    )
    expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(order.total_in_cents)
    const [sent] =
      await one.sql`select -sum(p.cents)::int as cents from sandbox_payment p join sandbox_intent i on i.id = p.intent_id
      where i.order_id = ${order.id} and p.outcome = 'refunded'`
    expect(sent?.["cents"]).toBe(order.total_in_cents)
    expect(await audit()).toBe(0)
  })

  it("of a payment made elsewhere must be booked with `refund_override`", async () => {
    const admin = await newShopper(one, { role: "Admin" })
    const { buyer, order } = await pendingOrder()
    const override = { amount: order.total_in_cents, external_reference: "bank 17" }
    expect((await buyer.call("POST", `/orders/${order.id}/payment_override`, override)).status).toBe(403)
    expect((await admin.call("POST", `/orders/${order.id}/payment_override`, override)).body.status).toBe(
      "Paid",
    )
    const wrong = await admin.call("POST", `/orders/${order.id}/refund`, {})
    expect(wrong.body.fields.amount[0].code).toBe("needs_override")
    const { body } = await admin.call("POST", `/orders/${order.id}/refund_override`, override)
    expect(body).toMatchObject({ refunded_total_in_cents: order.total_in_cents, eligible_for_refund: false })
    const more = { ...override, external_reference: "bank 18" }
    expect((await admin.call("POST", `/orders/${order.id}/refund_override`, more)).status).toBe(409)
    expect(await audit()).toBe(0)
  })

  it("made at the provider is booked once when its webhook arrives three times", async () => {
    const { buyer, order } = await paidOrder(1)
    const body = JSON.stringify({
      id: "evt",
      event: {
        kind: "refunded",
        provider: "sandbox",
        orderId: order.id,
        paymentFact: "",
        intentId: "pi",
        refundId: "re_1",
        cents: 5,
      },
    })
    await Promise.all([send(one, body), send(two, body), send(one, body)])
    expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(5)
    expect(await audit()).toBe(0)
  })
})

describe("orders", () => {
  it("are visible only to their owners and to users with the scope `order:read`", async () => {
    const admin = await newShopper(one, { role: "Admin" })
    const { buyer, order } = await pendingOrder()
    const stranger = await newShopper(one)
    expect((await stranger.order(order.id)).status).toBe(404)
    expect((await stranger.call("GET", `/orders?user_id=${buyer.id}`)).status).toBe(403)
    expect((await stranger.call("GET", "/orders?all=true")).body.scope).toBe("order:read")
    expect((await admin.order(order.id)).status).toBe(200)
    const list = await admin.call("GET", `/orders?user_id=${buyer.id}&status=PendingPayment&limit=1`)
    expect(list.body).toMatchObject({ data: [{ id: order.id }], paging: { total: 1, limit: 1, page: 0 } })
    expect((await admin.call("GET", "/orders?all=true&limit=3")).body.data).toHaveLength(3)
  })

  it("are listed page by page in ascending or descending order, without gaps or duplicates", async () => {
    const admin = await newShopper(one, { role: "Admin" })
    for (let n = 0; n < 3; n++) await pendingOrder()
    const [stored] =
      await one.sql`select array_agg(id::text order by created_at, id) as ids from entity where kind = 'order'`
    const ids: ReadonlyArray<string> = stored?.["ids"]
    const walk = async (dir: string) => {
      const seen: Array<string> = []
      for (let page = 0; ; page++) {
        const { body } = await admin.call(
          "GET",
          `/orders?all=true&sort=created_at&dir=${dir}&limit=7&page=${page}`,
        )
        expect(body.paging.total).toBe(ids.length)
        if (body.data.length === 0) return seen
        seen.push(...body.data.map(({ id }: { id: string }) => id))
      }
    }
    expect(await walk("Asc")).toEqual(ids)
    expect(await walk("Desc")).toEqual(ids.toReversed())
  })
})
