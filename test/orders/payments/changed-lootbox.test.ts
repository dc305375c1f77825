import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { type Answer, serve } from "../../fixtures/service.ts"
import { waiting } from "../../fixtures/waiting.ts"
import { losingAnswers } from "../../http/keyed-routes/keyed-request.ts"
import { expectInvariants } from "../oracle.ts"
import { atSandbox, crypto, freshId, newShopper, until } from "../shopper.ts"

const service = await serve({}, { peersPossible: true })
const other = await serve({}, { database: service.database, peersPossible: true })
const admin = await newShopper(service, { role: "Admin" })
const otherAdmin = await newShopper(other, { role: "Admin" })

/** Orders a lootbox, cancels the order, changes the lootbox, and then pays the cancelled order. */
const payLate = async (change: { readonly yats?: ReadonlyArray<string> }) => {
  const { body: box } = await admin.call("POST", "/lootboxes", { status: "Available", yats: [freshId()] })
  const buyer = await newShopper(service)
  await buyer.call("POST", "/cart", { items: [{ lootbox_id: box.id }] })
  const { body: order } = await buyer.checkout(crypto)
  await buyer.call("DELETE", "/cart")
  expect((await admin.call("PATCH", `/lootboxes/${box.id}`, { status: "Available", ...change })).status).toBe(
    200,
  )
  await atSandbox(service, order.payment_method_data.session_id, "pay")
  const { body: paid } = await until(
    () => buyer.order(order.id),
    ({ body }) => body.status === "Paid" || body.eligible_for_refund,
  )
  return { paid, box: () => admin.call("GET", `/lootboxes/${box.id}`), buyer }
}

it("a payment for a cancelled order does not buy a lootbox whose contents have changed", async () => {
  const { box, paid } = await payLate({ yats: [freshId(), freshId()] })
  expect(paid).toMatchObject({ status: "Cancelled", eligible_for_refund: true })
  expect((await box()).body.status).toBe("Available")
})

it("a payment for a cancelled order buys a lootbox whose contents have not changed", async () => {
  const { box, buyer, paid } = await payLate({})
  expect(paid.status).toBe("Paid")
  const { body } = await until(box, (answer) => answer.body.status === "Owned")
  expect(body).toMatchObject({ status: "Owned", owner_id: buyer.id })
})

type Buyer = Awaited<ReturnType<typeof newShopper>>
const inCash = (_: Buyer, orderId: string) =>
  admin.call("POST", `/cart/checkout/${orderId}`, { method: "Cash", external_reference: "till 4" })

type CheckOut = (buyer: Buyer, orderId: string) => Promise<Answer>

/** Checks out a lootbox that is refilled before the order holds it. Returns the response, and the new price. */
const checkOutRefilled = async (buyer: Buyer, checkOut: CheckOut) => {
  const { body: box } = await admin.call("POST", "/lootboxes", { status: "Available", yats: [freshId()] })
  const { body: cart } = await buyer.call("POST", "/cart", { items: [{ lootbox_id: box.id }] })
  let checkout: Promise<Answer> | undefined
  const yats = [freshId(), freshId()]
  // The row of the order is locked, so the commit of the checkout waits. The lootbox is not locked and can be
  // refilled.
  const filled = await service.sql.begin(async (sql) => {
    await sql`select 1 from entity where kind = 'order' and id = ${cart.id} for update`
    checkout = checkOut(buyer, cart.id)
    await until(
      () => waiting(other),
      (found) => found.length > 0,
    )
    return otherAdmin.call("PATCH", `/lootboxes/${box.id}`, { yats })
  })
  expect(filled.status).toBe(200)
  return { refused: await checkout, cents: filled.body.total_value as number }
}

it.each<[string, CheckOut]>([
  ["with cryptocurrency", (buyer) => buyer.checkout(crypto)],
  ["in cash", inCash],
])(
  "a lootbox is not sold at the old price when its contents change during a checkout %s",
  async (_, checkOut) => {
    const buyer = await newShopper(service)
    const { cents, refused } = await checkOutRefilled(buyer, checkOut)
    expect(refused).toMatchObject({ status: 422, body: { fields: { eid: [{ code: "eligibility" }] } } })
    expect((await buyer.cart()).body.status).toBe("Draft")
    const { body: order } = await buyer.checkout(crypto)
    expect(order).toMatchObject({ status: "PendingPayment", total_in_cents: cents })
  },
)

it("a retry of a checkout that was refused because the lootbox changed is refused, and does not undo the next checkout", async () => {
  const buyer = await newShopper(service)
  const headers = { "idempotency-key": randomUUID() }
  const send = () => buyer.call("POST", "/cart/checkout", crypto, { headers })
  await losingAnswers(service, () => checkOutRefilled(buyer, send))
  const { body: order } = await buyer.checkout(crypto)
  const retried = await send()
  expect([retried.status, retried.body.fields.eid[0].code]).toEqual([422, "eligibility"])
  expect((await buyer.order(order.id)).body).toMatchObject({
    status: "PendingPayment",
    payment_method_data: { payment_intent_id: order.payment_method_data.payment_intent_id },
  })
})

it("a lootbox is sold immediately when cash or an earlier payment of the buyer covers its price", async () => {
  const offered = async () =>
    (await admin.call("POST", "/lootboxes", { status: "Available", yats: [freshId()] })).body
  const [first, second] = [await offered(), await offered()]
  const buyer = await newShopper(service)
  const { body: cart } = await buyer.call("POST", "/cart", { items: [{ lootbox_id: first.id }] })
  const { body: order } = await inCash(buyer, cart.id)
  expect(order).toMatchObject({ id: cart.id, status: "Paid", total_in_cents: first.total_value })
  const { body: next } = await buyer.call("POST", "/cart", { items: [{ lootbox_id: second.id }] })
  const override = { amount: second.total_value, external_reference: "till 5" }
  await admin.call("POST", `/orders/${next.id}/payment_override`, override)
  expect((await buyer.checkout(crypto)).body).toMatchObject({ id: next.id, status: "Paid" })
  for (const { id } of [first, second])
    await until(
      () => admin.call("GET", `/lootboxes/${id}`),
      ({ body }) => body.status === "Owned" && body.owner_id === buyer.id,
    )
  await expectInvariants(service.sql)
})
