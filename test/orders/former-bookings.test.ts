import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { uuidOf } from "../../src/turns/operation-key.ts"
import { serve } from "../fixtures/service.ts"
import { atSandbox, crypto, freshIds, newShopper, until } from "./shopper.ts"

// Remove this file after the next release, together with src/orders/former-operation-key.ts.

const service = await serve({}, { peersPossible: true })
const admin = await newShopper(service, { role: "Admin" })

/** Writes the identity of a request into the bookings of an order, as a process of release 0.2.0 did. */
const bookedBefore = async (orderId: string, list: string, key: string, facts: ReadonlyArray<unknown>) => {
  const operationKey = uuidOf("run", admin.id, key, JSON.stringify(facts))
  await service.sql`
    update entity set version = version + 1, state = jsonb_set(state, ${["context", list]}, (
             select jsonb_agg(x || jsonb_build_object('operationKey', ${operationKey}::text))
               from jsonb_array_elements(state->'context'->${list}) x))
     where kind = 'order' and id = ${orderId}`
}
const keyed = (key: string) => ({ headers: { "idempotency-key": key } })

it("a refund that release 0.2.0 made without a stored response is not made again by the retry, but by a new request", async () => {
  const buyer = await newShopper(service)
  await buyer.add(...freshIds(2))
  const { body: order } = await buyer.checkout(crypto)
  await atSandbox(service, order.payment_method_data.session_id, "pay")
  await until(
    () => buyer.order(order.id),
    (answer) => answer.body.status === "Paid",
  )
  const key = randomUUID()
  const body = { amount: 100 }
  const refund = (options = {}) => admin.call("POST", `/orders/${order.id}/refund`, body, options)
  const refunded = async () => (await buyer.order(order.id)).body.refunded_total_in_cents
  expect((await refund()).status).toBe(200)
  await bookedBefore(order.id, "refunds", key, [order.id, body])
  expect((await refund(keyed(key))).status).toBe(200)
  expect(await refunded()).toBe(100)
  expect((await refund(keyed(randomUUID()))).status).toBe(200)
  expect(await refunded()).toBe(200)
})

it("cash that release 0.2.0 booked without a stored response is not booked again by the retry, but by a new request", async () => {
  const buyer = await newShopper(service)
  const { body: cart } = await buyer.add(...freshIds(2))
  const key = randomUUID()
  const body = { method: "Cash", amount: 100 }
  const pay = (options = {}) => admin.call("POST", `/cart/checkout/${cart.id}`, body, options)
  const due = async () => (await buyer.cart()).body.remaining_due_in_cents
  expect((await pay()).status).toBe(200)
  await bookedBefore(cart.id, "payments", key, [body])
  expect((await pay(keyed(key))).status).toBe(200)
  expect(await due()).toBe(cart.total_in_cents - 100)
  expect((await pay(keyed(randomUUID()))).status).toBe(200)
  expect(await due()).toBe(cart.total_in_cents - 200)
})
