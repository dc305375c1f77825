import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { FailPoint } from "../../../src/config/fail-points.ts"
import { Sandbox } from "../../../src/orders/payments/sandbox.ts"
import { request, serve, type TestService } from "../../fixtures/service.ts"
import { startWorker, type Worker } from "../../fixtures/worker.ts"
import { expectInvariants } from "../oracle.ts"
import { atSandbox, crypto, freshIds, newShopper, shopper, until } from "../shopper.ts"

const points: ReadonlyArray<FailPoint> = [
  "checkout.before_commit",
  "checkout.after_commit",
  "checkout.after_intent",
  "checkout.before_answer",
  "payment.before_commit",
  "payment.after_commit",
  // This point must be the last one, because any process may deliver its webhook later. The processes with a fail
  // point in the handling of webhooks must have been killed by their own tests before.
  "sandbox.after_charge",
]

let survivor: TestService
const doomed = new Map<FailPoint, Promise<Worker>>()
beforeAll(async () => {
  survivor = await serve({}, { peersPossible: true })
  // Starting the processes takes most of the time. Two processes start at a time, while the tests use the others.
  const free: Array<Promise<unknown>> = [Promise.resolve(), Promise.resolve()]
  for (const [i, point] of points.entries()) {
    const started = free[i % 2]!.then(() => startWorker(survivor.database, { FAILPOINT: point }))
    free[i % 2] = started
    doomed.set(point, started)
  }
})
afterAll(async () => {
  for (const worker of doomed.values()) await (await worker).kill()
})

/** Sends a request to the process with this fail point. The process is killed before it answers. */
const intoDeath = async (point: FailPoint, send: (worker: Worker) => Promise<unknown>) => {
  const worker = await doomed.get(point)!
  await expect(send(worker)).rejects.toThrow()
  expect(await worker.exited).toBe("SIGKILL")
}

const cartOf = async (count: number) => {
  const buyer = await newShopper(survivor)
  const ids = freshIds(count)
  await buyer.add(...ids)
  return { buyer, ids }
}
const holds = async (ids: ReadonlyArray<string>) =>
  (await survivor.sql`select 1 from claim where canonical = any(${ids as string[]}) and kind = 'order'`)
    .length

describe("a process killed during a checkout", () => {
  it.each([
    { point: "checkout.before_commit", status: "Draft", held: 0 },
    { point: "checkout.after_commit", status: "PendingPayment", held: 2 },
    { point: "checkout.before_answer", status: "PendingPayment", held: 2 },
  ] as const)(
    "at $point leaves a $status order whose checkout can be repeated",
    async ({ held, point, status }) => {
      const { buyer, ids } = await cartOf(2)
      await intoDeath(point, (worker) => shopper(worker, buyer).checkout(crypto))
      await expectInvariants(survivor.sql)
      expect(await holds(ids)).toBe(held)
      expect((await buyer.cart()).body.status).toBe(status)
      const again = await buyer.checkout(crypto)
      expect(again.status).toBe(200)
      expect(again.body.payment_method_data.client_secret).toBeTruthy()
      const intents = await survivor.sql`select id from sandbox_intent where order_id = ${again.body.id}`
      expect(intents).toEqual([{ id: again.body.payment_method_data.payment_intent_id }])
      await atSandbox(survivor, again.body.payment_method_data.session_id, "pay")
      const paid = await until(
        () => buyer.order(again.body.id),
        ({ body }) => body.status === "Paid",
      )
      expect(paid.body.amount_overpaid_in_cents).toBe(0)
      await expectInvariants(survivor.sql)
    },
  )
})

describe("a process killed while a code changes the price of an order", () => {
  it("after it created a new payment intent, but before it stored the intent in the order, leaves an order whose next checkout uses the intent", async () => {
    const admin = await newShopper(survivor, { role: "Admin" })
    const redemption_code = `KILL-${randomUUID().slice(0, 8)}`
    const code = { name: "kill", code_type: "Discount", discount_as_percentage: 50, redemption_code }
    expect((await admin.call("POST", "/codes", code)).status).toBe(200)
    const { buyer, ids } = await cartOf(2)
    const first = (await buyer.checkout(crypto)).body
    await intoDeath("checkout.after_intent", (worker) =>
      shopper(worker, buyer).call("POST", "/cart/promo_code", { code: redemption_code }),
    )
    await expectInvariants(survivor.sql)
    expect(await holds(ids)).toBe(2)
    const again = await buyer.checkout(crypto)
    expect(again.status).toBe(200)
    const prices: ReadonlyArray<number> = ids.map((_, n) => first.order_items[n].unit_price_in_cents)
    const half = prices.reduce((sum, cents) => sum + cents - Math.round(cents / 2), 0)
    expect(again.body.remaining_due_in_cents).toBe(half)
    const { payment_intent_id, session_id } = again.body.payment_method_data
    const intents = await survivor.sql`
      select id, cents from sandbox_intent where order_id = ${first.id} order by cents`
    expect(intents).toEqual([
      { id: payment_intent_id, cents: half },
      { id: first.payment_method_data.payment_intent_id, cents: first.total_in_cents },
    ])
    await atSandbox(survivor, session_id, "pay")
    const paid = await until(
      () => buyer.order(first.id),
      ({ body }) => body.status === "Paid",
    )
    expect(paid.body.amount_overpaid_in_cents).toBe(0)
    await expectInvariants(survivor.sql)
  })
})

describe("a process killed during a payment", () => {
  const pendingOrder = async () => {
    const { buyer } = await cartOf(1)
    return { buyer, order: (await buyer.checkout(crypto)).body }
  }

  it.each(["payment.before_commit", "payment.after_commit"] as const)(
    "at `%s` leaves an order that is paid exactly once after the webhook is repeated",
    async (point) => {
      const { buyer, order } = await pendingOrder()
      const fact = `sandbox:${randomUUID()}`
      const rawBody = JSON.stringify({
        id: "evt",
        event: {
          kind: "captured",
          provider: "sandbox",
          fact,
          orderId: order.id,
          intentId: "pi",
          cents: order.total_in_cents,
        },
      })
      const signature = await survivor.runtime.runPromise(
        Effect.map(Sandbox, (sandbox) => sandbox.sign(Buffer.from(rawBody))),
      )
      const tell = ({ url }: { url: string }) =>
        request(`${url}/webhooks/sandbox`, "POST", { rawBody, headers: { "sandbox-signature": signature } })
      await intoDeath(point, tell)
      await expectInvariants(survivor.sql)
      expect((await buyer.order(order.id)).body.status).toBe(
        point === "payment.before_commit" ? "PendingPayment" : "Paid",
      )
      expect((await tell(survivor)).status).toBe(200)
      expect((await buyer.order(order.id)).body).toMatchObject({
        status: "Paid",
        amount_overpaid_in_cents: 0,
      })
      await expectInvariants(survivor.sql)
    },
  )

  it("after the charge does not lose the payment, because the webhook is stored in the database", async () => {
    const { buyer, order } = await pendingOrder()
    await intoDeath("sandbox.after_charge", (worker) =>
      atSandbox(worker, order.payment_method_data.session_id, "pay"),
    )
    const { body } = await until(
      () => buyer.order(order.id),
      (answer) => answer.body.status === "Paid",
    )
    expect(body).toMatchObject({ status: "Paid", amount_overpaid_in_cents: 0 })
    await expectInvariants(survivor.sql)
  })
})
