import { randomUUID } from "node:crypto"
import { beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { losingAnswers } from "../http/keyed-routes/keyed-request.ts"
import { atSandbox, crypto, freshIds, newShopper, until } from "./shopper.ts"

let service: TestService
beforeAll(async () => {
  service = await serve({})
})

/** Sends a request with an Idempotency-Key, loses its response, and sends the request again. */
const sentAgain = async (
  send: (options: { headers: Record<string, string> }) => Promise<{ status: number }>,
) => {
  const key = randomUUID()
  const options = { headers: { "idempotency-key": key } }
  expect((await losingAnswers(service, () => send(options))).status).toBe(200)
  expect((await send(options)).status).toBe(200)
}

const paidOrder = async () => {
  const buyer = await newShopper(service)
  await buyer.add(...freshIds(2))
  const { body } = await buyer.checkout(crypto)
  await atSandbox(service, body.payment_method_data.session_id, "pay")
  await until(
    () => buyer.order(body.id),
    (answer) => answer.body.status === "Paid",
  )
  return { buyer, order: body }
}

it("a refund request makes one refund when it is repeated after the process was killed", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await paidOrder()
  await sentAgain((options) => admin.call("POST", `/orders/${order.id}/refund`, { amount: 100 }, options))
  expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(100)
})

it("a refund made elsewhere is booked once when the request is repeated after the process was killed", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await paidOrder()
  const body = { amount: 100, external_reference: "till 4" }
  await sentAgain((options) => admin.call("POST", `/orders/${order.id}/refund_override`, body, options))
  expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(100)
})

it("a payment made elsewhere is booked once when the request is repeated after the process was killed", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await paidOrder()
  const body = { amount: 100, external_reference: "till 4" }
  await sentAgain((options) => admin.call("POST", `/orders/${order.id}/payment_override`, body, options))
  expect((await buyer.order(order.id)).body.amount_overpaid_in_cents).toBe(100)
})

it("a cash payment is booked once when the request is repeated after the process was killed", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const buyer = await newShopper(service)
  const { body: cart } = await buyer.add(...freshIds(2))
  const body = { method: "Cash", amount: 100 }
  await sentAgain((options) => admin.call("POST", `/cart/checkout/${cart.id}`, body, options))
  expect((await buyer.cart()).body.remaining_due_in_cents).toBe(cart.total_in_cents - 100)
})

it.each([
  ["payment_override", "amount_overpaid_in_cents"],
  ["refund_override", "refunded_total_in_cents"],
] as const)(
  "`%s` books an external reference once, and answers 409 to the same reference with another amount",
  async (path, member) => {
    const admins = [
      await newShopper(service, { role: "Admin" }),
      await newShopper(service, { role: "Admin" }),
    ]
    const { buyer, order } = await paidOrder()
    const book = (external_reference: string, amount = 100, options = {}) =>
      Promise.all(
        admins.map((admin) =>
          admin.call("POST", `/orders/${order.id}/${path}`, { amount, external_reference }, options),
        ),
      )
    const booked = async () => (await buyer.order(order.id)).body[member]
    for (const _ of ["concurrently", "later"])
      expect((await book("wire 7")).map(({ status }) => status)).toEqual([200, 200])
    expect(await booked()).toBe(100)
    const newKey = { headers: { "idempotency-key": randomUUID() } }
    expect((await book("wire 7", 100, newKey)).map(({ status }) => status)).toEqual([200, 200])
    expect(await booked()).toBe(100)
    await book("wire 8")
    expect(await booked()).toBe(200)
    for (const { body, status } of await book("wire 7", 50)) {
      expect(status).toBe(409)
      expect(body.error).toBe(
        'This order already has a booking of 100 cents with the external_reference "wire 7". Send the same amount, or use another reference.',
      )
    }
    expect(await booked()).toBe(200)
    expect((await book(" ")).map(({ status }) => status)).toEqual([400, 400])
  },
)

it("cash with the same external reference is booked once; the same reference with another amount is answered with 409", async () => {
  const admins = [await newShopper(service, { role: "Admin" }), await newShopper(service, { role: "Admin" })]
  const buyer = await newShopper(service)
  const { body: cart } = await buyer.add(...freshIds(2))
  const due = async () => (await buyer.cart()).body.remaining_due_in_cents
  const pay = (external_reference: string, amount = 100) =>
    Promise.all(
      admins.map((admin) =>
        admin.call("POST", `/cart/checkout/${cart.id}`, { method: "Cash", amount, external_reference }),
      ),
    )
  for (const _ of ["concurrently", "later"])
    expect((await pay("till 4")).map(({ status }) => status)).toEqual([200, 200])
  expect(await due()).toBe(cart.total_in_cents - 100)
  expect((await pay("till 4", 50)).map(({ status }) => status)).toEqual([409, 409])
  await pay("till 5")
  expect(await due()).toBe(cart.total_in_cents - 200)
})

it("a cash payment that is repeated with the same reference returns the order that it paid", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const buyer = await newShopper(service)
  const { body: cart } = await buyer.add(...freshIds(1))
  const pay = (facts: object) => admin.call("POST", `/cart/checkout/${cart.id}`, { method: "Cash", ...facts })
  for (const _ of ["first", "again"]) {
    const { body, status } = await pay({ external_reference: "till 4" })
    expect([status, body.status, body.amount_overpaid_in_cents]).toEqual([200, "Paid", 0])
  }
  const other = await pay({ external_reference: "till 4", amount: 1 })
  expect([other.status, other.body.error]).toEqual([409, expect.stringContaining("use another reference")])
  expect((await pay({})).status).toBe(409)
})

it("every cash payment without a reference is booked, unless its Idempotency-Key is repeated", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { body: cart } = await admin.add(...freshIds(2))
  const headers = { "idempotency-key": randomUUID() }
  for (const options of [{}, {}, { headers }, { headers }])
    expect(
      (await admin.call("POST", "/cart/checkout", { method: "Cash", amount: 100 }, options)).status,
    ).toBe(200)
  expect((await admin.cart()).body.remaining_due_in_cents).toBe(cart.total_in_cents - 300)
})
