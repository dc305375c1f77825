import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll } from "vitest"
import type { TestService } from "../../fixtures/service.ts"
import { card, freshIds, newShopper } from "../shopper.ts"

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, unknown>
  readonly form: URLSearchParams
}

const secret = "whsec_test"

/**
 * Starts a server that implements the part of the Stripe API that this service uses. It records all requests, and
 * stops after the tests of the file.
 */
export const openStripe = async () => {
  const asked: Array<Asked> = []
  /** The created refunds. Every request creates a refund, as at Stripe after the idempotency key has expired. */
  const refunds: Array<Record<string, unknown>> = []
  /** The payment intents and sessions that the service can retrieve from this server, by id. */
  const intents = new Map<string, unknown>()
  const how = {
    failing: undefined as { status: number; body: unknown } | undefined,
    refundStatus: "succeeded",
    /** Decides which requests the server rejects. */
    refuses: (_: Asked): boolean => false,
    /** Runs before the server sends a response. */
    meanwhile: async (_: Asked): Promise<void> => {},
  }
  const refusal = { error: { type: "invalid_request_error", message: "refused" } }
  const answer = ({ form, method, path }: Asked): unknown => {
    const n = asked.length
    if (method === "GET" && path.startsWith("/v1/refunds?")) {
      const intentId = new URLSearchParams(path.split("?")[1]).get("payment_intent")
      const data = refunds.filter(({ payment_intent }) => payment_intent === intentId)
      return { object: "list", url: "/v1/refunds", has_more: false, data }
    }
    const intent = intents.get(path.split("?")[0]?.split("/").at(-1) ?? "")
    if (method === "GET" && intent !== undefined) return intent
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
    if (path === "/v1/refunds") {
      const refund = {
        id: `re_${n}`,
        object: "refund",
        amount: Number(form.get("amount")),
        status: how.refundStatus,
        payment_intent: form.get("payment_intent"),
        metadata: { order_id: form.get("metadata[order_id]"), refund_id: form.get("metadata[refund_id]") },
      }
      refunds.push(refund)
      return refund
    }
    return { id: path.split("/")[3], object: "thing" }
  }
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => {
      body += chunk
    })
    request.on("end", async () => {
      const ask = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        form: new URLSearchParams(body),
      }
      asked.push(ask)
      await how.meanwhile(ask)
      const failing = how.refuses(ask) ? { status: 400, body: refusal } : how.failing
      response.writeHead(failing?.status ?? 200, { "content-type": "application/json" })
      response.end(JSON.stringify(failing?.body ?? answer(ask)))
    })
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  afterAll(() => server.close())

  const pendingOrder = async (service: TestService, checkout: unknown = card) => {
    const buyer = await newShopper(service)
    await buyer.add(...freshIds(2))
    asked.length = 0
    const { body } = await buyer.checkout(checkout)
    return { buyer, order: body }
  }
  return {
    asked,
    refunds,
    intents,
    how,
    settings: {
      STRIPE_SECRET_KEY: "sk_test_1",
      STRIPE_WEBHOOK_SECRET: secret,
      STRIPE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    },
    pendingOrder,
    paidOrder: async (service: TestService) => {
      const { buyer, order } = await pendingOrder(service)
      const intentId = `pi_${order.id}`
      await tellOf(service, "payment_intent.succeeded", intentOf(order.id, order.total_in_cents, intentId))
      asked.length = 0
      return { buyer, order, intentId }
    },
  }
}

/** Sends a signed Stripe event to the service. With `isAltered` the body differs from the signed body. */
export const tellOf = (
  service: TestService,
  type: string,
  object: Record<string, unknown>,
  isAltered = false,
) => {
  const rawBody = JSON.stringify({ id: `evt_${Math.random()}`, object: "event", type, data: { object } })
  const t = Math.floor(Date.now() / 1000)
  const v1 = createHmac("sha256", secret).update(`${t}.${rawBody}`).digest("hex")
  return service.call("POST", "/webhooks/stripe", {
    rawBody: isAltered ? `${rawBody} ` : rawBody,
    headers: { "stripe-signature": `t=${t},v1=${v1}` },
  })
}

export const intentOf = (orderId: string, cents: number, id = "pi_paid") => ({
  id,
  object: "payment_intent",
  amount: cents,
  amount_received: cents,
  currency: "usd",
  metadata: { order_id: orderId },
  last_payment_error: null,
})
