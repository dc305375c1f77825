import { randomUUID } from "node:crypto"
import { beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { atSandbox, crypto, freshIds, newShopper, until } from "../orders/shopper.ts"

let one: TestService
let two: TestService
beforeAll(async () => {
  one = await serve({}, { peersPossible: true })
  two = await serve({}, { database: one.database, peersPossible: true })
})

/** Simulates that two days have passed: moves the times of the order's payments and refunds, and of the key, back. */
const twoDaysPass = async (orderId: string, key: string) => {
  const then = new Date(Date.now() - 2 * 86_400_000).toISOString()
  await one.sql`update idempotency_key set created_at = ${then} where key = ${key}`
  for (const list of ["payments", "refunds"])
    await one.sql`
      update entity set state = jsonb_set(state, ${["context", list]}, coalesce((
               select jsonb_agg(x || jsonb_build_object('at', ${then}::text)) from jsonb_array_elements(state->'context'->${list}) x), '[]'))
       where id = ${orderId}`
}

const paidOrder = async () => {
  const buyer = await newShopper(one)
  await buyer.add(...freshIds(2))
  const { body } = await buyer.checkout(crypto)
  await atSandbox(one, body.payment_method_data.session_id, "pay")
  await until(
    () => buyer.order(body.id),
    (answer) => answer.body.status === "Paid",
  )
  return { buyer, order: body }
}

it.each([
  ["makes a second refund", "refund", { amount: 100 }, "refunded_total_in_cents", 200],
  [
    "makes only one refund for the same external reference",
    "refund_override",
    { amount: 100, external_reference: "till 4" },
    "refunded_total_in_cents",
    100,
  ],
  [
    "records only one payment for the same external reference",
    "payment_override",
    { amount: 100, external_reference: "till 4" },
    "amount_overpaid_in_cents",
    100,
  ],
] as const)(
  "the service %s if a request is repeated after its Idempotency-Key has expired: %s",
  async (_, path, body, member, total) => {
    const admin = await newShopper(one, { role: "Admin" })
    const { buyer, order } = await paidOrder()
    const key = randomUUID()
    const send = (to: TestService) =>
      to.call("POST", `/orders/${order.id}/${path}`, {
        token: admin.token,
        body,
        headers: { "idempotency-key": key },
      })
    expect((await send(one)).status).toBe(200)
    expect((await send(two)).status).toBe(200)
    expect((await buyer.order(order.id)).body[member]).toBe(100)
    await twoDaysPass(order.id, key)
    expect((await send(two)).status).toBe(200)
    expect((await buyer.order(order.id)).body[member]).toBe(total)
  },
)

it("an expired key that a process of release 0.2.0 leases again has no outcome of the earlier request", async () => {
  const key = randomUUID()
  const begin = () =>
    one.sql`select outcome from begin_once('someone', ${key}, 'hash', ${randomUUID()}, 60, 86400)`
  expect(await begin()).toEqual([{ outcome: "run" }])
  await one.sql`update idempotency_key set outcome = 'sealed', outcome_rows = '[]', committed_at = now(),
                                           created_at = now() - interval '2 days' where key = ${key}`
  expect(await begin()).toEqual([{ outcome: "run" }])
  const [row] =
    await one.sql`select outcome, outcome_rows, committed_at from idempotency_key where key = ${key}`
  expect(row).toEqual({ outcome: null, outcome_rows: null, committed_at: null })
})
