import { randomUUID } from "node:crypto"
import { afterEach, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { waiting } from "../../fixtures/waiting.ts"
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
  const admins = [await newShopper(one, { role: "Admin" }), await newShopper(one, { role: "Admin" })] as const
  const refund = (body: unknown, to: TestService = one, headers = {}, { token } = admins[0]) =>
    to.call("POST", `/orders/${order.id}/refund`, { token, body, headers })
  const refunded = async () => (await buyer.order(order.id)).body.refunded_total_in_cents
  return { order, admins, refund, refunded }
}
const isRefund = ({ method, path }: Asked) => method === "POST" && path === "/v1/refunds"

/** What the order says happened now happened so many minutes ago. */
const minutesPass = (orderId: string, minutes: number) => one.sql`
  update entity set version = version + 1, state = jsonb_set(state, '{context,refunds}', (
           select jsonb_agg(x || jsonb_build_object('at', wire_time((x->>'at')::timestamptz - make_interval(mins => ${minutes}))))
             from jsonb_array_elements(state->'context'->'refunds') x))
   where id = ${orderId}`

it("a refund of an amount that is sent again, or by another administrator, is made once and answered alike", async () => {
  const { admins, order, refund, refunded } = await paidOrder()
  const first = await refund({ amount: 100 })
  expect(first.status).toBe(200)
  for (const again of [
    await refund({ amount: 100 }),
    await refund({ amount: 100, reason: null }, two),
    await refund({ amount: 100 }, two, {}, admins[1]),
  ]) {
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
  }
  expect(await refunded()).toBe(100)
  expect(stripe.refunds.filter(({ metadata }) => (metadata as never)["order_id"] === order.id)).toHaveLength(
    1,
  )
  await expectInvariants(one.sql)
})

it("so is one that reaches two processes at once", async () => {
  const { order, refund, refunded } = await paidOrder()
  const { under } = await one.sql.begin(async (sql) => {
    await sql`select 1 from entity where kind = 'order' and id = ${order.id} for update`
    const sent = []
    for (const to of [one, two]) {
      sent.push(refund({ amount: 100 }, to))
      await expect.poll(() => waiting(one)).toHaveLength(sent.length)
    }
    return { under: sent }
  })
  expect((await Promise.all(under)).map(({ status }) => status)).toEqual([200, 200])
  expect(await refunded()).toBe(100)
})

it("so is one whose provider was away, and what is asked again is no other refund", async () => {
  const { admins, order, refund, refunded } = await paidOrder()
  stripe.how.failing = { status: 500, body: { error: { type: "api_error", message: "down" } } }
  for (const _ of ["once", "and again"]) expect((await refund({ amount: 100 })).status).toBe(200)
  stripe.how.failing = undefined
  expect((await refund({ amount: 100 })).body.refunded_total_in_cents).toBe(100)
  expect(await refunded()).toBe(100)
  expect((await admins[0].call("GET", `/orders/${order.id}/refunds`)).body).toHaveLength(1)
})

it("so is one that is clicked again while Stripe works on it, which knows both by one key", async () => {
  const { refund, refunded } = await paidOrder()
  const keys: Array<unknown> = []
  const bothCame = new Promise<void>((resolve) => {
    stripe.how.meanwhile = async (asked) => {
      if (!isRefund(asked)) return
      if (keys.push(asked.headers["idempotency-key"]) === 2) resolve()
      await bothCame
    }
  })
  const first = refund({ amount: 100 })
  await expect.poll(() => keys).toHaveLength(1)
  for (const { status } of await Promise.all([first, refund({ amount: 100 }, two)])) expect(status).toBe(200)
  expect(new Set(keys).size).toBe(1)
  expect(await refunded()).toBe(100)
})

it("so is one that is still on its way when ten minutes have passed", async () => {
  const { admins, order, refund, refunded } = await paidOrder()
  stripe.how.refundStatus = "pending"
  await refund({ amount: 100 })
  stripe.how.refundStatus = "succeeded"
  await minutesPass(order.id, 60)
  expect((await refund({ amount: 100 })).status).toBe(200)
  expect((await admins[0].call("GET", `/orders/${order.id}/refunds`)).body).toMatchObject([
    { status: "Pending" },
  ])
  const made = stripe.refunds.at(-1)!
  await tellOf(one, "refund.updated", { ...made, status: "succeeded" })
  expect(await refunded()).toBe(100)
  await refund({ amount: 100 })
  expect(await refunded()).toBe(200)
})

it("another amount, another reason, a key of its own or ten minutes make it another refund", async () => {
  const { order, refund, refunded } = await paidOrder()
  await refund({ amount: 100 })
  await refund({ amount: 50 })
  await refund({ amount: 100, reason: "late" })
  await refund({ amount: 100 }, two, { "idempotency-key": randomUUID() })
  expect(await refunded()).toBe(350)
  await minutesPass(order.id, 9)
  await refund({ amount: 100 })
  expect(await refunded()).toBe(350)
  await minutesPass(order.id, 2)
  for (const _ of ["once", "and again"]) await refund({ amount: 100 })
  expect(await refunded()).toBe(450)
})

it("one that failed stands in nobody's way", async () => {
  const { refund, refunded } = await paidOrder()
  stripe.how.refuses = isRefund
  for (const _ of ["once", "and again"])
    expect((await refund({ amount: 100 })).body.refunded_total_in_cents).toBe(0)
  stripe.how.refuses = () => false
  for (const _ of ["once", "and again"])
    expect((await refund({ amount: 100 })).body.refunded_total_in_cents).toBe(100)
  expect(await refunded()).toBe(100)
})

it("one of which a part was made is not begun again", async () => {
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
  const refund = () => admin.call("POST", `/orders/${order.id}/refund`, { amount: half + 10 })
  stripe.how.refuses = (asked) => isRefund(asked) && asked.form.get("payment_intent") === intents[0]
  expect((await refund()).body.refunded_total_in_cents).toBe(10)
  stripe.how.refuses = () => false
  expect((await refund()).body.refunded_total_in_cents).toBe(10)
})

it("all that is left can be asked for again after a later payment", async () => {
  const { order, refund, refunded } = await paidOrder()
  await refund({})
  expect((await refund({})).status).toBe(422)
  await tellOf(one, "payment_intent.succeeded", intentOf(order.id, 70, `pi_later_${order.id}`))
  expect((await refund({})).status).toBe(200)
  expect(await refunded()).toBe(order.total_in_cents + 70)
})
