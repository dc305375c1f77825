import { randomUUID } from "node:crypto"
import { beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { atSandbox, crypto, freshIds, newShopper, until } from "./shopper.ts"

let service: TestService
beforeAll(async () => {
  service = await serve({})
})

/** Sent, committed, the process killed before it kept its answer, sent again with the same key after the lease. */
const sentAgain = async (
  send: (options: { headers: Record<string, string> }) => Promise<{ status: number }>,
) => {
  const key = randomUUID()
  const options = { headers: { "idempotency-key": key } }
  expect((await send(options)).status).toBe(200)
  await service.sql`update idempotency_key set status = null, answer = null, leased_until = now() - interval '1 second'
                     where key = ${key}`
  return send(options)
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

it("a refund whose process was killed is one refund when it is sent again", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await paidOrder()
  await sentAgain((options) => admin.call("POST", `/orders/${order.id}/refund`, { amount: 100 }, options))
  expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(100)
})

it("a refund made elsewhere is booked once, too", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await paidOrder()
  const body = { amount: 100, external_reference: "till 4" }
  await sentAgain((options) => admin.call("POST", `/orders/${order.id}/refund_override`, body, options))
  expect((await buyer.order(order.id)).body.refunded_total_in_cents).toBe(100)
})

it("so is a payment made elsewhere", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order } = await paidOrder()
  const body = { amount: 100, external_reference: "till 4" }
  await sentAgain((options) => admin.call("POST", `/orders/${order.id}/payment_override`, body, options))
  expect((await buyer.order(order.id)).body.amount_overpaid_in_cents).toBe(100)
})

it("so is a part in cash", async () => {
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
  "a %s that was clicked twice, or by two administrators, is booked once, and under another reference again",
  async (path, member) => {
    const admins = [
      await newShopper(service, { role: "Admin" }),
      await newShopper(service, { role: "Admin" }),
    ]
    const { buyer, order } = await paidOrder()
    const book = (external_reference: string, amount = 100) =>
      Promise.all(
        admins.map((admin) =>
          admin.call("POST", `/orders/${order.id}/${path}`, { amount, external_reference }),
        ),
      )
    const booked = async () => (await buyer.order(order.id)).body[member]
    for (const _ of ["at once", "and later"])
      expect((await book("wire 7")).map(({ status }) => status)).toEqual([200, 200])
    expect(await booked()).toBe(100)
    await book("wire 8")
    await book("wire 7", 50)
    expect(await booked()).toBe(250)
    expect((await book(" ")).map(({ status }) => status)).toEqual([400, 400])
  },
)

it("a part in cash that was clicked twice is taken once", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const buyer = await newShopper(service)
  const { body: cart } = await buyer.add(...freshIds(2))
  const take = (external_reference: string) =>
    admin.call("POST", `/cart/checkout/${cart.id}`, { method: "Cash", amount: 100, external_reference })
  const due = async () => (await buyer.cart()).body.remaining_due_in_cents
  for (const _ of ["once", "and again"]) expect((await take("till 4")).status).toBe(200)
  expect(await due()).toBe(cart.total_in_cents - 100)
  await take("till 5")
  expect(await due()).toBe(cart.total_in_cents - 200)
})

it("a part in cash that two administrators take at once, or that has no reference, is taken once", async () => {
  const admins = [await newShopper(service, { role: "Admin" }), await newShopper(service, { role: "Admin" })]
  const buyer = await newShopper(service)
  const { body: cart } = await buyer.add(...freshIds(2))
  const due = async () => (await buyer.cart()).body.remaining_due_in_cents
  const take = (facts: object) =>
    Promise.all(
      admins.map((admin) =>
        admin.call("POST", `/cart/checkout/${cart.id}`, { method: "Cash", amount: 100, ...facts }),
      ),
    )
  expect((await take({ external_reference: "till 4" })).map(({ status }) => status)).toEqual([200, 200])
  expect(await due()).toBe(cart.total_in_cents - 100)
  for (const _ of ["at once", "and later"])
    expect((await take({})).map(({ status }) => status)).toEqual([200, 200])
  expect(await due()).toBe(cart.total_in_cents - 200)
  const options = { headers: { "idempotency-key": randomUUID() } }
  const body = { method: "Cash", amount: 100 }
  expect((await admins[0]!.call("POST", `/cart/checkout/${cart.id}`, body, options)).status).toBe(200)
  expect(await due()).toBe(cart.total_in_cents - 300)
})

it("so is one for an administrator's own cart, and the same for the next cart is another", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  for (const _ of ["one cart", "and the next"]) {
    const { body: cart } = await admin.add(...freshIds(2))
    for (const _again of ["once", "and again"])
      expect((await admin.checkout({ method: "Cash", amount: 100 })).status).toBe(200)
    expect((await admin.cart()).body.remaining_due_in_cents).toBe(cart.total_in_cents - 100)
    expect((await admin.checkout({ method: "Cash" })).body.status).toBe("Paid")
  }
})
