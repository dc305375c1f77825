import { createHmac } from "node:crypto"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { card, freshIds, newShopper } from "./shopper.ts"

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, unknown>
  readonly form: URLSearchParams
}

const secret = "whsec_test"
const asked: Array<Asked> = []
const refundStatus = "succeeded"
let failing: { status: number; body: unknown } | undefined
let standIn: Server
let service: TestService
let other: TestService

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
  const settings = {
    STRIPE_SECRET_KEY: "sk_test_1",
    STRIPE_WEBHOOK_SECRET: secret,
    STRIPE_URL: `http://127.0.0.1:${port}`,
  }
  service = await serve(settings, { peersPossible: true })
  other = await serve(settings, { database: service.database, peersPossible: true })
})
afterAll(() => standIn.close())

const tell = (type: string, object: Record<string, unknown>, to = service) => {
  const rawBody = JSON.stringify({ id: `evt_${Math.random()}`, object: "event", type, data: { object } })
  const t = Math.floor(Date.now() / 1000)
  const v1 = createHmac("sha256", secret).update(`${t}.${rawBody}`).digest("hex")
  return to.call("POST", "/webhooks/stripe", {
    rawBody,
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

it("a refund made at Stripe, told several times at once over two processes, is one refund", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  for (let round = 0; round < 6; round++) {
    const { order } = await pendingOrder()
    const intentId = `pi_${order.id}`
    await tell("payment_intent.succeeded", intentOf(order.id, order.total_in_cents, intentId))
    const theirs = {
      object: "refund",
      id: `re_${order.id}`,
      status: "succeeded",
      amount: 50,
      payment_intent: intentId,
      metadata: {},
    }
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        tell(n % 2 === 0 ? "refund.created" : "refund.updated", theirs, n < 4 ? service : other),
      ),
    )
    const { body } = await admin.call("GET", `/orders/${order.id}/refunds`)
    expect(body.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
      [theirs.id, "Refunded"],
    ])
  }
}, 30_000)
