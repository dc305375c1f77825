import { createHmac } from "node:crypto"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { expectInvariants } from "./oracle.ts"
import { card, freshIds, newShopper, until } from "./shopper.ts"

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, unknown>
  readonly form: URLSearchParams
}

const secret = "whsec_test"
const asked: Array<Asked> = []
let refundStatus = "succeeded"
let failing: { status: number; body: unknown } | undefined
let standIn: Server
let service: TestService

/** Speaks as much of Stripe's API as we use, and remembers what it was asked. */
const answer = ({ form, path }: Asked): unknown => {
  const n = asked.length
  if (path === "/v1/checkout/sessions")
    return {
      id: `cs_${n}`,
      object: "checkout.session",
      payment_intent: null,
      client_secret: null,
      url: `https://pay.example/cs_${n}`,
    }
  if (path === "/v1/payment_intents")
    return { id: `pi_${n}`, object: "payment_intent", client_secret: `pi_${n}_secret_x` }
  if (path === "/v1/refunds")
    return { id: `re_${n}`, object: "refund", amount: Number(form.get("amount")), status: refundStatus }
  return { id: path.split("/")[3], object: "thing" }
}

beforeAll(async () => {
  standIn = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => {
      body += chunk
    })
    request.on("end", () => {
      const ask = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        form: new URLSearchParams(body),
      }
      asked.push(ask)
      response.writeHead(failing?.status ?? 200, { "content-type": "application/json" })
      response.end(JSON.stringify(failing?.body ?? answer(ask)))
    })
  })
  await new Promise<void>((ready) => standIn.listen(0, "127.0.0.1", ready))
  const { port } = standIn.address() as AddressInfo
  service = await serve({
    STRIPE_SECRET_KEY: "sk_test_1",
    STRIPE_WEBHOOK_SECRET: secret,
    STRIPE_URL: `http://127.0.0.1:${port}`,
  })
})
afterAll(() => standIn.close())

const tell = (type: string, object: Record<string, unknown>, sign = true) => {
  const rawBody = JSON.stringify({ id: `evt_${Math.random()}`, object: "event", type, data: { object } })
  const t = Math.floor(Date.now() / 1000)
  const v1 = createHmac("sha256", secret).update(`${t}.${rawBody}`).digest("hex")
  return service.call("POST", "/webhooks/stripe", {
    rawBody: sign ? rawBody : `${rawBody} `,
    headers: { "stripe-signature": `t=${t},v1=${v1}` },
  })
}
const intentOf = (orderId: string, cents: number, id = "pi_paid") => ({
  id,
  object: "payment_intent",
  amount: cents,
  amount_received: cents,
  currency: "usd",
  metadata: { order_id: orderId },
  last_payment_error: null,
})

const pendingOrder = async (how: unknown = card) => {
  const buyer = await newShopper(service)
  await buyer.add(...freshIds(2))
  asked.length = 0
  const { body } = await buyer.checkout(how)
  return { buyer, order: body }
}

it("money on its way back to the buyer does not pay for an order", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await pendingOrder()
  const intentId = `pi_${order.id}`
  await buyer.call("POST", "/cart/convert_to_draft")
  await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, intentId))
  asked.length = 0
  refundStatus = "pending"
  expect((await admin.call("POST", `/orders/${order.id}/refund`, {})).status).toBe(200)
  refundStatus = "succeeded"
  const refundId = asked[0]?.form.get("metadata[refund_id]")
  const again = await buyer.checkout()
  expect
    .soft(again.body)
    .toMatchObject({ status: "PendingPayment", remaining_due_in_cents: order.total_in_cents })
  const told = await tell("refund.updated", {
    object: "refund",
    id: "re_1",
    status: "succeeded",
    amount: order.total_in_cents,
    payment_intent: intentId,
    metadata: { order_id: order.id, refund_id: refundId },
  })
  expect.soft(told.status).toBe(200)
  await expectInvariants(service.sql)
})

it("an item whose refund is on its way is not refunded again", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { order } = await pendingOrder()
  const intentId = `pi_${order.id}`
  await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, intentId))
  asked.length = 0
  refundStatus = "pending"
  const cheaper = order.order_items.toSorted(
    (a: { unit_price_in_cents: number }, b: { unit_price_in_cents: number }) =>
      a.unit_price_in_cents - b.unit_price_in_cents,
  )[0]
  const item_ids = [cheaper.id]
  const first = await admin.call("POST", `/orders/${order.id}/refund`, { item_ids })
  const second = await admin.call("POST", `/orders/${order.id}/refund`, { item_ids })
  refundStatus = "succeeded"
  expect(first.status).toBe(200)
  expect(second.status).toBe(422)
  expect(asked.filter(({ path }) => path === "/v1/refunds")).toHaveLength(1)
})

it("the same item refunded by two administrators at once is refunded once", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { order } = await pendingOrder()
  await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, `pi_${order.id}`))
  asked.length = 0
  const item_ids = [order.order_items[0].id]
  const answers = await Promise.all(
    [1, 2].map(() => admin.call("POST", `/orders/${order.id}/refund`, { item_ids })),
  )
  expect(asked.filter(({ path }) => path === "/v1/refunds")).toHaveLength(1)
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
})

it.each(["failed", "canceled"])("a refund that ends as %s can be made again", async (status) => {
  const admin = await newShopper(service, { role: "Admin" })
  const { order } = await pendingOrder()
  const intentId = `pi_${order.id}`
  await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, intentId))
  asked.length = 0
  refundStatus = "pending"
  await admin.call("POST", `/orders/${order.id}/refund`, {})
  refundStatus = "succeeded"
  const told = {
    object: "refund",
    id: "re_9",
    status,
    amount: order.total_in_cents,
    payment_intent: intentId,
    metadata: { order_id: order.id, refund_id: asked[0]?.form.get("metadata[refund_id]") },
  }
  await tell(status === "failed" ? "refund.failed" : "refund.updated", told)
  const { body } = await admin.call("GET", `/orders/${order.id}/refunds`)
  expect.soft(body).toMatchObject([{ status: "Failed" }])
  const again = await admin.call("POST", `/orders/${order.id}/refund`, {})
  expect(again.body).toMatchObject({ refunded_total_in_cents: order.total_in_cents })
})

it("a refund answered with 503 and asked for again with its key is one refund", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await pendingOrder()
  await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, `pi_${order.id}`))
  const refund = () =>
    admin.call(
      "POST",
      `/orders/${order.id}/refund`,
      { amount: 100 },
      { headers: { "idempotency-key": order.id } },
    )
  failing = { status: 500, body: { error: { type: "api_error", message: "down" } } }
  await refund()
  failing = undefined
  await refund()
  // What is on its way is asked for again by the deadline.
  await service.sql`update entity set due_at = now(), leased_until = null where id = ${order.id}`
  const after = await until(
    async () => (await admin.call("GET", `/orders/${order.id}/refunds`)).body,
    (refunds) => refunds.every(({ status }: { status: string }) => status !== "Pending"),
  )
  expect(after).toMatchObject([{ status: "Refunded", amount_in_cents: 100 }])
  expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(100)
}, 20_000)
