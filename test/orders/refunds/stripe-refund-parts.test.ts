import { afterEach, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { type Asked, intentOf, openStripe, tellOf } from "../payments/stripe-server.ts"
import { newShopper, until } from "../shopper.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)
afterEach(() => {
  stripe.how.refuses = () => false
  stripe.how.meanwhile = async () => {}
  stripe.how.failing = undefined
})

/** Creates an order that was paid through two intents. By default, each is for half of the price. */
const paidInParts = async (share = 0.5) => {
  const { buyer, order } = await stripe.pendingOrder(service)
  const half = Math.floor(order.total_in_cents * share)
  const intents = [`pi_1_${order.id}`, `pi_2_${order.id}`] as const
  await tellOf(service, "payment_intent.succeeded", intentOf(order.id, half, intents[0]))
  await tellOf(
    service,
    "payment_intent.succeeded",
    intentOf(order.id, order.total_in_cents - half, intents[1]),
  )
  const admin = await newShopper(service, { role: "Admin" })
  const refund = (body: unknown) => admin.call("POST", `/orders/${order.id}/refund`, body)
  return { buyer, order, half, intents, refund }
}
const isRefund = ({ method, path }: Asked) => method === "POST" && path === "/v1/refunds"
const refundedItems = (order: { order_items: ReadonlyArray<{ refunded_quantity: number }> }) =>
  order.order_items.map(({ refunded_quantity }) => refunded_quantity)

it("both parts of a refund are stored before the first part is requested from Stripe", async () => {
  const { order, refund } = await paidInParts()
  const noted: Array<number> = []
  stripe.how.meanwhile = async (asked) => {
    if (!isRefund(asked)) return
    const [row] = await service.sql<{ n: number }[]>`
      select jsonb_array_length(state->'context'->'refunds') as n from entity where id = ${order.id}`
    noted.push(row!.n)
  }
  const { body } = await refund({})
  expect(noted).toEqual([2, 2])
  expect(body.refunded_total_in_cents).toBe(order.total_in_cents)
  expect(refundedItems(body)).toEqual([1, 1])
})

it("items are not marked as refunded if a part of their refund fails; a second request refunds the failed part", async () => {
  const { buyer, half, intents, order, refund } = await paidInParts()
  const item_ids = order.order_items.map(({ id }: { id: string }) => id)
  stripe.how.refuses = (asked) => isRefund(asked) && asked.form.get("payment_intent") === intents[1]
  const { body: partly } = await refund({ item_ids })
  expect.soft(partly.refunded_total_in_cents).toBe(half)
  expect.soft(refundedItems(partly)).toEqual([0, 0])
  stripe.how.refuses = () => false
  const [cheap, dear] = [...order.order_items].sort((a, b) => a.unit_price_in_cents - b.unit_price_in_cents)
  // Half of the total was refunded, which covers the cheaper item.
  expect(cheap.unit_price_in_cents).toBeLessThanOrEqual(dear.unit_price_in_cents)
  const { body: covered, status } = await refund({ item_ids: [cheap.id] })
  expect.soft([status, covered.fields?.item_ids[0].code]).toEqual([422, "nothing_left"])
  expect.soft((await refund({ item_ids })).status).toBe(200)
  const { body: whole } = await buyer.order(order.id)
  expect(whole.refunded_total_in_cents).toBe(order.total_in_cents)
  expect(refundedItems(whole)).toEqual([1, 1])
  expect((await refund({ item_ids })).status).toBe(422)
  await expectInvariants(service.sql)
})

it("one part of a refund is completed while Stripe is unavailable for the other part", async () => {
  const { half, intents, order, refund } = await paidInParts()
  const down = { status: 500, body: { error: { type: "api_error", message: "down" } } }
  stripe.how.failing = down
  await refund({})
  // From now on Stripe fails only for requests about the first payment.
  stripe.how.meanwhile = async ({ form, path }) => {
    const isFirst = path.includes(intents[0]) || form.get("payment_intent") === intents[0]
    stripe.how.failing = isFirst ? down : undefined
  }
  await service.sql`update entity set due_at = now(), leased_until = null where id = ${order.id}`
  const admin = await newShopper(service, { role: "Admin" })
  const { body } = await until(
    () => admin.call("GET", `/orders/${order.id}/refunds`),
    (answer) => answer.body[1].status !== "Pending",
  )
  expect(body).toMatchObject([
    { status: "Pending", amount_in_cents: half },
    { status: "Refunded", amount_in_cents: order.total_in_cents - half },
  ])
})

it("the part of a refund that was made counts once if the items are then refunded one after the other", async () => {
  const { buyer, intents, order, refund } = await paidInParts(0.1)
  stripe.how.refuses = (asked) => isRefund(asked) && asked.form.get("payment_intent") === intents[1]
  await refund({})
  stripe.how.refuses = () => false
  for (const { id } of order.order_items) expect((await refund({ item_ids: [id] })).status).toBe(200)
  const { body } = await buyer.order(order.id)
  expect([refundedItems(body), body.refunded_total_in_cents]).toEqual([[1, 1], order.total_in_cents])
  expect(body.order_items.every(({ released_at }: { released_at?: string }) => released_at)).toBe(true)
  await expectInvariants(service.sql)
})
