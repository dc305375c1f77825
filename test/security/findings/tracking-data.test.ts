import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { cleanCancelledOrders } from "../../../src/orders/cleanup.ts"
import { PaymentEvents } from "../../../src/orders/payments/apply-payment-event.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { openStripe } from "../../orders/payments/stripe-server.ts"
import { atSandbox, card, crypto, freshId, newShopper, until } from "../../orders/shopper.ts"

/** Orders that are never paid must not fill the database: their data is small, and is deleted after a while. */

let service: TestService
let admin: Awaited<ReturnType<typeof newShopper>>
beforeAll(async () => {
  service = await serve()
  admin = await newShopper(service, { role: "Admin" })
})

const clean = async (at = service) => {
  await at.sql`update order_cleanup set begun_at = '-infinity', after = null`
  await at.runtime.runPromise(cleanCancelledOrders)
}
const stored = async (id: string, at = service) =>
  (
    await at.sql`select status, state->'context' as context from entity where kind = 'order' and id = ${id}`
  )[0]
const isStored = async (id: string, at = service) => (await stored(id, at)) !== undefined

/** Creates an order with tracking data that is pending payment. */
const pendingOrder = async (how: unknown = card, at = service) => {
  const buyer = await newShopper(at)
  const items = [{ emoji_id: freshId() }]
  expect((await buyer.call("POST", "/cart", { items, tracking_data: { from: "a campaign" } })).status).toBe(
    200,
  )
  const { body: order } = await buyer.checkout(how)
  expect(order.status).toBe("PendingPayment")
  return { buyer, order }
}
/** Moves the cancellation of an order, or else its creation, to the past. */
const age = (id: string, days: number, at = service) => at.sql`
  update entity set created_at = created_at - make_interval(days => ${days}), updated_at = updated_at - make_interval(days => ${days}),
         state = case when status = 'Cancelled'
                   then jsonb_set(state, '{context,cancelled,at}', to_jsonb(wire_time(now() - make_interval(days => ${days}))))
                   else state end
   where kind = 'order' and id = ${id}`
/** Creates an order that was cancelled some days ago. The buyer has a newer cart, unless `isNewest` is set. */
const cancelledOrder = async (
  days: number,
  { at = service, how = card as unknown, isNewest = false } = {},
) => {
  const { buyer, order } = await pendingOrder(how, at)
  expect((await buyer.call("DELETE", "/cart")).body.status).toBe("Cancelled")
  await age(order.id, days, at)
  if (!isNewest) await buyer.add(freshId())
  return { buyer, order }
}

describe("tracking_data", () => {
  const text = (bytes: number) => "x".repeat(bytes - 2)

  it("may have at most 4096 bytes of JSON in each request that accepts it", async () => {
    const buyer = await newShopper(service)
    const items = [{ emoji_id: freshId() }]
    const cart = (tracking_data: unknown) => buyer.call("POST", "/cart", { items, tracking_data })
    for (const large of [text(4097), "ü".repeat(2048), { deep: { list: Array(2100).fill(1) } }]) {
      const refused = await cart(large)
      expect([refused.status, refused.body.error]).toEqual([
        400,
        "body: tracking_data: expected at most 4096 bytes of JSON",
      ])
    }
    expect((await buyer.cart()).body.order_items).toEqual([])
    const { body: order } = await cart(text(4096))
    expect(order.order_items).toHaveLength(1)
    const large = { tracking_data: text(4097) }
    expect((await buyer.checkout({ ...card, ...large })).status).toBe(400)
    expect((await buyer.call("POST", `/cart/checkout/${order.id}`, { ...card, ...large })).status).toBe(400)
    const activation = { nonce: "n", pubkey: "00", signature: "00", ...large }
    expect((await buyer.call("POST", `/codes/${randomUUID()}/random_yat`, activation)).status).toBe(400)
    expect((await buyer.cart()).body.status).toBe("Draft")
    expect((await buyer.checkout({ ...card, tracking_data: text(4096) })).status).toBe(200)
  })

  it("is removed from a cancelled order after seven days, and kept by other orders", async () => {
    const old = await cancelledOrder(8)
    const young = await cancelledOrder(6)
    const paid = await pendingOrder()
    await atSandbox(service, paid.order.payment_method_data.session_id, "pay")
    await until(
      () => paid.buyer.order(paid.order.id),
      ({ body }) => body.status === "Paid",
    )
    const pending = await pendingOrder()
    for (const { order } of [paid, pending]) await age(order.id, 100)
    const before = await old.buyer.order(old.order.id)
    await clean()
    const kept = async ({ order }: { order: { id: string } }) =>
      (await stored(order.id))?.["context"].tracking
    expect(await kept(old)).toBeUndefined()
    for (const one of [young, paid, pending]) expect(await kept(one)).toEqual({ from: "a campaign" })
    expect((await old.buyer.order(old.order.id)).body).toEqual(before.body)
  })

  it("can be removed while the service has the order in memory, and a late payment then still pays the order", async () => {
    const { buyer, order } = await cancelledOrder(8, { how: crypto })
    await clean()
    await atSandbox(service, order.payment_method_data.session_id, "pay")
    const { body } = await until(
      () => buyer.order(order.id),
      (answer) => answer.body.status === "Paid",
    )
    expect(body.status).toBe("Paid")
  })
})

describe("a cancelled order", () => {
  it("is purged 90 days after its cancellation if it got no payment, except a user's newest order", async () => {
    const [old, young] = [await cancelledOrder(91), await cancelledOrder(89)]
    const newest = await cancelledOrder(91, { isNewest: true })
    const partPaid = await cancelledOrder(91)
    const payment = { amount: 1, external_reference: "cash" }
    await admin.call("POST", `/orders/${partPaid.order.id}/payment_override`, payment)
    await clean()
    expect(await isStored(old.order.id)).toBe(false)
    expect((await old.buyer.order(old.order.id)).status).toBe(404)
    for (const { order } of [young, newest, partPaid]) expect(await isStored(order.id)).toBe(true)
    expect(await service.sql`select 1 from event where channel = ${`order:${old.order.id}`}`).toEqual([])
    expect((await old.buyer.cart()).body.order_items).toHaveLength(1)
    expect((await old.buyer.checkout()).body.status).toBe("PendingPayment")
  })

  it("is purged only after its payment intent is cancelled, which the clean-up does if it was not done before", async () => {
    const { order } = await cancelledOrder(91)
    await service.sql`update sandbox_intent set status = 'open' where order_id = ${order.id}`
    await clean()
    expect(await service.sql`select status from sandbox_intent where order_id = ${order.id}`).toEqual([
      { status: "cancelled" },
    ])
    expect(await isStored(order.id)).toBe(false)
  })

  it("stays while Stripe does not confirm that the payment intent is cancelled", async () => {
    const stripe = await openStripe()
    const withStripe = await serve(stripe.settings)
    const { order } = await cancelledOrder(91, { at: withStripe })
    const walletPay = await cancelledOrder(91, { at: withStripe, how: { method: "WalletPay" } })
    const left = async () => [
      await isStored(order.id, withStripe),
      await isStored(walletPay.order.id, withStripe),
    ]
    const answer = (session: string, intent: string) => {
      stripe.intents.set(order.payment_method_data.session_id, {
        id: "cs",
        object: "checkout.session",
        status: session,
      })
      stripe.intents.set(walletPay.order.payment_method_data.payment_intent_id, {
        id: "pi",
        object: "payment_intent",
        status: intent,
      })
    }
    answer("complete", "succeeded")
    await clean(withStripe)
    expect(await left()).toEqual([true, true])
    answer("open", "requires_payment_method")
    await clean(withStripe)
    expect(await left()).toEqual([true, true])
    stripe.how.failing = { status: 500, body: { error: { type: "api_error" } } }
    await clean(withStripe)
    expect(await left()).toEqual([true, true])
    stripe.how.failing = undefined
    answer("expired", "canceled")
    await clean(withStripe)
    expect(await left()).toEqual([false, false])
  })
})

describe("a payment for a purged order", () => {
  const purgedOrder = async () => {
    const made = await cancelledOrder(91, { how: crypto })
    await clean()
    expect(await isStored(made.order.id)).toBe(false)
    return made
  }
  const audit = async () => (await service.sql`select ledger_audit() as cents`)[0]?.["cents"]

  it("is booked once under the order's id, is listed for administrators, and can be refunded", async () => {
    const { buyer, order } = await purgedOrder()
    const cents = order.total_in_cents
    await atSandbox(service, order.payment_method_data.session_id, "pay")
    const { body } = await until(
      () => admin.order(order.id),
      (answer) => answer.status === 200 && answer.body.eligible_for_refund,
    )
    expect(body).toMatchObject({
      status: "Cancelled",
      user_id: buyer.id,
      order_items: [],
      amount_overpaid_in_cents: cents,
      allowed_actions: ["refund"],
    })
    const lines = () => service.sql`select l.account, sum(l.cents)::int as cents from ledger_line l
                                      join journal j on j.id = l.journal_id where j.order_id = ${order.id}
                                     group by 1 having sum(l.cents) <> 0 order by 1`
    expect(await lines()).toEqual([
      { account: "funds:sandbox", cents },
      { account: "held", cents: -cents },
    ])
    const listed = async () =>
      (await admin.call("GET", "/orders?all=true&holds_money=true&limit=100")).body.data.map(
        ({ id }: { id: string }) => id,
      )
    expect(await listed()).toContain(order.id)
    expect(await audit()).toBe(0)
    const mails = await service.call("GET", `/dev/outbox?to=${encodeURIComponent(buyer.email)}`)
    expect(mails.body[0].kind).toBe("payment_kept")
    expect((await buyer.cart()).body.id).not.toBe(order.id)

    const refunded = await admin.call("POST", `/orders/${order.id}/refund`, {})
    expect(refunded.body).toMatchObject({ refunded_total_in_cents: cents, eligible_for_refund: false })
    expect(await lines()).toEqual([])
    expect(await listed()).not.toContain(order.id)
    expect(await audit()).toBe(0)
    await clean()
    expect(await isStored(order.id)).toBe(true)
  })

  it("is booked once if its webhook is repeated, and two payments do not make the order paid", async () => {
    const { order } = await purgedOrder()
    await atSandbox(service, order.payment_method_data.session_id, "pay")
    const money = async (count: number) =>
      until(
        async () => (await stored(order.id))?.["context"]?.payments?.length ?? 0,
        (found) => found === count,
      )
    expect(await money(1)).toBe(1)
    const payments = await service.sql<{ id: string; intent_id: string }[]>`
      select p.id, p.intent_id from sandbox_payment p join sandbox_intent i on i.id = p.intent_id where i.order_id = ${order.id}`
    const event = {
      kind: "captured",
      provider: "sandbox",
      fact: `sandbox:${payments[0]?.id}`,
      orderId: order.id,
      intentId: payments[0]?.intent_id ?? "",
      cents: order.total_in_cents,
    } as const
    const apply = (fact: string) =>
      service.runtime.runPromise(PaymentEvents.use((events) => events.apply({ ...event, fact })))
    await apply(event.fact)
    expect(await money(1)).toBe(1)
    await Promise.all([apply("sandbox:second"), apply("sandbox:second")])
    expect(await money(2)).toBe(2)
    expect((await admin.order(order.id)).body).toMatchObject({
      status: "Cancelled",
      amount_overpaid_in_cents: 2 * order.total_in_cents,
    })
    expect(await audit()).toBe(0)
  })

  it("can be booked by an administrator, and an order that never existed stays unknown", async () => {
    const { order } = await purgedOrder()
    const body = { amount: 500, external_reference: "bank transfer 7" }
    const booked = await admin.call("POST", `/orders/${order.id}/payment_override`, body)
    expect(booked.body).toMatchObject({ status: "Cancelled", amount_overpaid_in_cents: 500 })
    expect((await admin.call("POST", `/orders/${randomUUID()}/payment_override`, body)).status).toBe(404)
    expect(await audit()).toBe(0)
  })
})
