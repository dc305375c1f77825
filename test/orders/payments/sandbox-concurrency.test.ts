import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { waiting } from "../../fixtures/waiting.ts"
import { expectInvariants } from "../oracle.ts"
import { atSandbox, card, crypto, freshIds, newShopper, until } from "../shopper.ts"

const service = await serve()

/** Runs the action twice concurrently. A lock on the row of the intent stops both requests until both have started. */
const clickTwice = async <A>(orderId: string, click: () => Promise<A>): Promise<A[]> => {
  const { clicks } = await service.sql.begin(async (sql) => {
    await sql`select 1 from sandbox_intent where order_id = ${orderId} for update`
    const sent: Promise<A>[] = []
    for (const _ of ["once", "and again"]) {
      sent.push(click())
      await expect.poll(() => waiting(service)).toHaveLength(sent.length)
    }
    return { clicks: sent }
  })
  return Promise.all(clicks)
}

it("two concurrent refund requests without an Idempotency-Key make two refunds", async () => {
  const buyer = await newShopper(service)
  const admin = await newShopper(service, { role: "Admin" })
  await buyer.add(...freshIds(2))
  const { body: order } = await buyer.checkout(crypto)
  await atSandbox(service, order.payment_method_data.session_id, "pay")
  await until(
    () => buyer.order(order.id),
    (answer) => answer.body.status === "Paid",
  )
  const clicks = await clickTwice(order.id, () =>
    admin.call("POST", `/orders/${order.id}/refund`, { amount: 100 }),
  )
  for (const { status } of clicks) expect(status).toBe(200)
  expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(200)
  await expectInvariants(service.sql)
})

it.each([
  ["card", card],
  ["cryptocurrency", crypto],
])(
  "a %s payment is recorded once when the form is submitted twice concurrently, and both requests succeed",
  async (_, method) => {
    const buyer = await newShopper(service)
    await buyer.add(...freshIds(1))
    const { body: order } = await buyer.checkout(method)
    const { session_id: session } = order.payment_method_data
    const clicks = await clickTwice(order.id, () => atSandbox(service, session, "pay"))
    for (const { status } of clicks) expect([200, 303]).toContain(status)
    const { body } = await until(
      () => buyer.order(order.id),
      (answer) => answer.body.status === "Paid",
    )
    expect(body).toMatchObject({ status: "Paid", amount_overpaid_in_cents: 0 })
    const [paid] =
      await service.sql`select paid_cents::int as cents from sandbox_intent where order_id = ${order.id}`
    expect(paid).toEqual({ cents: order.total_in_cents })
    await expectInvariants(service.sql)
  },
)

it("a payment of half the price is accepted once when submitted twice concurrently; the other request gets 409", async () => {
  const buyer = await newShopper(service)
  await buyer.add(...freshIds(1))
  const { body: order } = await buyer.checkout(crypto)
  const { session_id: session } = order.payment_method_data
  const clicks = await clickTwice(order.id, () => atSandbox(service, session, "underpay"))
  expect(clicks.map(({ status }) => status).sort()).toEqual([200, 409])
})
