import { randomUUID } from "node:crypto"
import { afterEach, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { waiting } from "../../fixtures/waiting.ts"
import { losingAnswers } from "../../http/keyed-routes/keyed-request.ts"
import { expectInvariants } from "../oracle.ts"
import { type Asked, intentOf, openStripe, tellOf } from "../payments/stripe-server.ts"
import { newShopper } from "../shopper.ts"

const stripe = await openStripe()
const one = await serve(stripe.settings, { peersPossible: true })
const two = await serve(stripe.settings, { database: one.database, peersPossible: true })
afterEach(() => {
  stripe.how.refuses = () => false
  stripe.how.failing = undefined
  stripe.how.meanwhile = async () => {}
})

const paidOrder = async () => {
  const { buyer, order } = await stripe.paidOrder(one)
  const admin = await newShopper(one, { role: "Admin" })
  const refund = (body: unknown, to: TestService = one, headers = {}) =>
    to.call("POST", `/orders/${order.id}/refund`, { token: admin.token, body, headers })
  const refunded = async () => (await buyer.order(order.id)).body.refunded_total_in_cents
  return { order, admin, refund, refunded }
}
const isRefund = ({ method, path }: Asked) => method === "POST" && path === "/v1/refunds"
const newKey = () => ({ "idempotency-key": randomUUID() })

/** Makes the lease of a running request expire, as if its process had been paused. */
const expireLease = (headers: ReturnType<typeof newKey>) => one.sql`
  update idempotency_key set leased_until = now() - interval '1 second'
   where key = ${headers["idempotency-key"]}`

it("a refund request that is repeated with the same Idempotency-Key makes one refund", async () => {
  const { order, refund, refunded } = await paidOrder()
  const key = newKey()
  const first = await refund({ amount: 100 }, one, key)
  expect(first.status).toBe(200)
  for (const to of [one, two]) {
    const again = await refund({ amount: 100 }, to, key)
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
  }
  expect(await refunded()).toBe(100)
  expect(stripe.refunds.filter(({ metadata }) => (metadata as never)["order_id"] === order.id)).toHaveLength(
    1,
  )
  await expectInvariants(one.sql)
})

it("two processes that concurrently handle a refund request with the same Idempotency-Key make one refund", async () => {
  const { order, refund, refunded } = await paidOrder()
  const key = newKey()
  const { under } = await one.sql.begin(async (sql) => {
    await sql`select 1 from entity where kind = 'order' and id = ${order.id} for update`
    const sent = []
    for (const to of [one, two]) {
      sent.push(refund({ amount: 100 }, to, key))
      await expect.poll(() => waiting(one)).toHaveLength(sent.length)
      await expireLease(key)
    }
    return { under: sent }
  })
  // The second request has taken over the key, so the first one commits nothing.
  expect((await Promise.all(under)).map(({ status }) => status)).toEqual([503, 200])
  expect((await refund({ amount: 100 }, one, key)).status).toBe(200)
  expect(await refunded()).toBe(100)
})

it("a repeated refund request continues the pending refund after the provider was unavailable", async () => {
  const { admin, order, refund, refunded } = await paidOrder()
  const key = newKey()
  stripe.how.failing = { status: 500, body: { error: { type: "api_error", message: "down" } } }
  expect((await losingAnswers(one, () => refund({ amount: 100 }, one, key))).status).toBe(200)
  stripe.how.failing = undefined
  expect((await refund({ amount: 100 }, one, key)).body.refunded_total_in_cents).toBe(100)
  expect(await refunded()).toBe(100)
  expect((await admin.call("GET", `/orders/${order.id}/refunds`)).body).toHaveLength(1)
})

it("a refund request that is repeated while Stripe handles it sends Stripe the same idempotency key", async () => {
  const { refund, refunded } = await paidOrder()
  const key = newKey()
  const keys: Array<unknown> = []
  const bothArrived = new Promise<void>((resolve) => {
    stripe.how.meanwhile = async (asked) => {
      if (!isRefund(asked)) return
      if (keys.push(asked.headers["idempotency-key"]) === 2) resolve()
      await bothArrived
    }
  })
  const first = refund({ amount: 100 }, one, key)
  await expect.poll(() => keys).toHaveLength(1)
  await expireLease(key)
  for (const { status } of await Promise.all([first, refund({ amount: 100 }, two, key)]))
    expect(status).toBe(200)
  expect(new Set(keys).size).toBe(1)
  expect(await refunded()).toBe(100)
})

it("identical refund requests without an Idempotency-Key make separate refunds, up to the amount paid", async () => {
  const { order, refund, refunded } = await paidOrder()
  for (const to of [one, two, one])
    expect((await refund({ amount: 100, reason: "late" }, to)).status).toBe(200)
  expect(await refunded()).toBe(300)
  expect((await refund({ amount: order.total_in_cents - 299 })).status).toBe(422)
  await expectInvariants(one.sql)
})

it("a refund is possible after Stripe rejected earlier refunds of the same amount", async () => {
  const { refund, refunded } = await paidOrder()
  stripe.how.refuses = isRefund
  for (const _ of ["first", "second"])
    expect((await refund({ amount: 100 })).body.refunded_total_in_cents).toBe(0)
  stripe.how.refuses = () => false
  expect((await refund({ amount: 100 })).body.refunded_total_in_cents).toBe(100)
  expect(await refunded()).toBe(100)
})

it("a repeated request does not retry a refund of which one part was made and the other part failed", async () => {
  const { order } = await stripe.pendingOrder(one)
  const half = Math.floor(order.total_in_cents / 2)
  const intents = [`pi_1_${order.id}`, `pi_2_${order.id}`] as const
  for (const [n, intentId] of intents.entries())
    await tellOf(
      one,
      "payment_intent.succeeded",
      intentOf(order.id, n === 0 ? half : order.total_in_cents - half, intentId),
    )
  const admin = await newShopper(one, { role: "Admin" })
  const key = newKey()
  const refund = () =>
    admin.call("POST", `/orders/${order.id}/refund`, { amount: half + 10 }, { headers: key })
  stripe.how.refuses = (asked) => isRefund(asked) && asked.form.get("payment_intent") === intents[0]
  expect((await losingAnswers(one, refund)).body.refunded_total_in_cents).toBe(10)
  stripe.how.refuses = () => false
  expect((await refund()).body.refunded_total_in_cents).toBe(10)
})

it("a second full refund, after an additional payment, refunds only the additional money", async () => {
  const { order, refund, refunded } = await paidOrder()
  await refund({})
  expect((await refund({})).status).toBe(422)
  await tellOf(one, "payment_intent.succeeded", intentOf(order.id, 70, `pi_later_${order.id}`))
  expect((await refund({})).status).toBe(200)
  expect(await refunded()).toBe(order.total_in_cents + 70)
})
