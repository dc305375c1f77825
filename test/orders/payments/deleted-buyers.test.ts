import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { Deadlines } from "../../../actors/deadlines.ts"
import { serve } from "../../fixtures/service.ts"
import { waiting } from "../../fixtures/waiting.ts"
import { expectInvariants } from "../oracle.ts"
import { freshIds, newShopper } from "../shopper.ts"
import { intentOf, openStripe, tellOf } from "./stripe-server.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)
const pays = (orderId: string, cents: number) =>
  tellOf(service, "payment_intent.succeeded", intentOf(orderId, cents, `pi_${orderId}`))

it("a payment for a cancelled order of a deleted account stays refundable and buys no ids", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await stripe.pendingOrder(service)
  await buyer.call("DELETE", "/cart")
  expect((await buyer.call("DELETE", `/users/${buyer.id}`)).status).toBe(200)
  expect((await pays(order.id, order.total_in_cents)).status).toBe(200)
  const { body } = await admin.order(order.id)
  expect(body).toMatchObject({ status: "Cancelled", eligible_for_refund: true })
  await expectInvariants(service.sql)
})

it("a payment for a pending order of a deleted account cancels the order and stays refundable", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await stripe.pendingOrder(service)
  expect((await admin.call("DELETE", `/users/${buyer.id}`)).status).toBe(200)
  expect((await pays(order.id, order.total_in_cents)).status).toBe(200)
  expect(
    await service.sql`select canonical from claim where owner_id = ${buyer.id} or holder = ${order.id}`,
  ).toEqual([])
  const { body } = await admin.order(order.id)
  expect(body).toMatchObject({ status: "Cancelled", eligible_for_refund: true })
  expect(body.amount_overpaid_in_cents).toBe(order.total_in_cents)
  await admin.call("POST", `/orders/${order.id}/refund`, {})
  expect((await admin.order(order.id)).body).toMatchObject({
    refunded_total_in_cents: order.total_in_cents,
    eligible_for_refund: false,
  })
  await expectInvariants(service.sql)
})

it("a payment that arrives while the account is being deleted stays refundable", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await stripe.pendingOrder(service)
  let told: ReturnType<typeof pays> | undefined
  await service.sql.begin(async (sql) => {
    await sql`select delete_user(${buyer.id}, true, array['User'])`
    told = pays(order.id, order.total_in_cents)
    await expect.poll(() => waiting(service)).toHaveLength(1)
  })
  expect((await told)?.status).toBe(200)
  expect((await admin.order(order.id)).body).toMatchObject({ status: "Cancelled", eligible_for_refund: true })
  await expectInvariants(service.sql)
})

it("a payment of a deleted account buys no lootbox", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const buyer = await newShopper(service)
  const { body: box } = await admin.call("POST", "/lootboxes", { status: "Available", yats: freshIds(1) })
  await buyer.call("POST", "/cart", { items: [{ lootbox_id: box.id }] })
  const { body: order } = await buyer.checkout()
  expect((await admin.call("DELETE", `/users/${buyer.id}`)).status).toBe(200)
  expect((await pays(order.id, order.total_in_cents)).status).toBe(200)
  expect((await admin.order(order.id)).body).toMatchObject({ status: "Cancelled", eligible_for_refund: true })
  expect((await admin.call("GET", `/lootboxes/${box.id}`)).body.status).toBe("Available")
  await expectInvariants(service.sql)
})

it("users cannot delete their account while an order holds unrefunded money", async () => {
  const { buyer, order } = await stripe.pendingOrder(service)
  await buyer.call("POST", "/cart/convert_to_draft")
  await pays(order.id, order.total_in_cents)
  const refused = await buyer.call("DELETE", `/users/${buyer.id}`)
  expect(refused.status).toBe(409)
  expect(refused.body).toMatchObject({ held: { unspent_orders: [order.id] } })
  const admin = await newShopper(service, { role: "Admin" })
  await admin.call("POST", `/orders/${order.id}/refund`, {})
  expect((await buyer.call("DELETE", `/users/${buyer.id}`)).status).toBe(200)
})

it("users cannot delete their account while they have an overpayment or an undelivered lootbox", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await stripe.pendingOrder(service)
  await pays(order.id, order.total_in_cents + 500)
  const { body } = await buyer.order(order.id)
  expect(body).toMatchObject({ status: "Paid", amount_overpaid_in_cents: 500 })
  const leave = () => buyer.call("DELETE", `/users/${buyer.id}`)
  for (const { emoji_id } of body.order_items)
    await admin.call("DELETE", `/emoji_id/${encodeURIComponent(emoji_id)}`)
  expect(await leave()).toMatchObject({ status: 409, body: { held: { unspent_orders: [order.id] } } })

  await admin.call("POST", `/orders/${order.id}/refund`, { amount: 500 })
  const box = randomUUID()
  const boxes = (undelivered: ReadonlyArray<string>) => service.sql`
    update entity set state = jsonb_set(state, '{context,undelivered}', to_jsonb(${[...undelivered]}::text[]))
     where kind = 'order' and id = ${order.id}`
  await boxes([box])
  expect(await leave()).toMatchObject({ status: 409, body: { held: { lootboxes: [box] } } })
  await boxes([])
  expect((await leave()).status).toBe(200)
})

it("a deleted account gets no mail when its order expires", async () => {
  const short = await serve({ CART_TTL_SECONDS: "1", SWEEP_INTERVAL_MS: "60000" })
  const admin = await newShopper(short, { role: "Admin" })
  const [gone, other] = [await newShopper(short), await newShopper(short)]
  const orders = []
  for (const buyer of [gone, other]) {
    await buyer.add(...freshIds(1))
    orders.push((await buyer.checkout()).body.id)
  }
  expect((await admin.call("DELETE", `/users/${gone.id}`)).status).toBe(200)
  await short.sql`select pg_sleep(1.1)`
  await short.runtime.runPromise(Deadlines.use((deadlines) => deadlines.sweep))
  for (const id of orders) expect((await admin.order(id)).body.status).toBe("Cancelled")
  const mails = await short.sql`select recipient from outbox where kind = 'order_expired'`
  expect(mails.map((row) => row["recipient"])).toEqual([other.email])
})
