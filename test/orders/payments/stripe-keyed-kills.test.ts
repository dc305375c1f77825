import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import type { FailPoint } from "../../../src/config/fail-points.ts"
import { request, serve } from "../../fixtures/service.ts"
import { startWorker } from "../../fixtures/worker.ts"
import { expectInvariants } from "../oracle.ts"
import { card, freshIds, newShopper, type shopper } from "../shopper.ts"
import { openStripe } from "./stripe-server.ts"

const stripe = await openStripe()
const survivor = await serve(stripe.settings, { peersPossible: true })
type Shopper = ReturnType<typeof shopper>

/**
 * Sends a request with an Idempotency-Key to a process that is killed at this point, and again to another process.
 * Returns the second response.
 */
const retryAfterKill = async (at: FailPoint, { call, token }: Shopper, path: string, body: unknown) => {
  const headers = { "idempotency-key": randomUUID() }
  const worker = await startWorker(survivor.database, { ...stripe.settings, FAILPOINT: at })
  await expect(request(`${worker.url}${path}`, "POST", { token, body, headers })).rejects.toThrow()
  expect(await worker.exited).toBe("SIGKILL")
  await survivor.sql`update idempotency_key set leased_until = now() - interval '1 second'`
  return call("POST", path, body, { headers })
}

const keysOf = (path: string) =>
  stripe.asked.filter((asked) => asked.path === path).map(({ headers }) => headers["idempotency-key"])

it.each([
  ["request.after_commit", 1],
  ["checkout.after_intent", 2],
] as const)(
  "a checkout that was killed at %s is completed by its retry, with one intent at Stripe",
  async (point, times) => {
    const buyer = await newShopper(survivor)
    await buyer.add(...freshIds(2))
    stripe.asked.length = 0
    const { body, status } = await retryAfterKill(point, buyer, "/cart/checkout", card)
    expect([status, body.status]).toEqual([200, "PendingPayment"])
    expect(body.payment_method_data.checkout_url).toMatch(/^https:\/\/pay\.example\/cs_/)
    const keys = keysOf("/v1/checkout/sessions")
    expect(keys).toHaveLength(times)
    expect(new Set(keys)).toEqual(new Set([`${body.id}:1:${body.total_in_cents}`]))
    await expectInvariants(survivor.sql)
  },
)

it("a refund that was killed after its commit is requested at Stripe by its retry, once", async () => {
  const { order } = await stripe.paidOrder(survivor)
  const admin = await newShopper(survivor, { role: "Admin" })
  const path = `/orders/${order.id}/refund`
  const { body, status } = await retryAfterKill("request.after_commit", admin, path, { amount: 100 })
  expect([status, body.refunded_total_in_cents]).toEqual([200, 100])
  const { body: refunds } = await admin.call("GET", `/orders/${order.id}/refunds`)
  expect(refunds).toMatchObject([{ status: "Refunded", amount_in_cents: 100 }])
  expect(keysOf("/v1/refunds")).toEqual([refunds[0].id])
  await expectInvariants(survivor.sql)
})
