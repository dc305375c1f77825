import { expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { atSandbox, crypto, freshId, newShopper, until } from "../shopper.ts"

const service = await serve({ CART_TTL_SECONDS: "2", SWEEP_INTERVAL_MS: "50" })

type Buyer = Awaited<ReturnType<typeof newShopper>>

const lettersTo = async ({
  email,
}: Pick<Buyer, "email">): Promise<ReadonlyArray<{ kind: string; text: string }>> =>
  (await service.call("GET", `/dev/outbox?to=${encodeURIComponent(email)}`)).body

const awaitLetter = async (buyer: Buyer, kind: string): Promise<string | undefined> => {
  const mails = await until(
    () => lettersTo(buyer),
    (all) => all.some((mail) => mail.kind === kind),
  )
  return mails.find((mail) => mail.kind === kind)?.text
}

const checkedOut = async (where: TestService, id = freshId()) => {
  const buyer = await newShopper(where)
  await buyer.add(id)
  const { body: order } = await buyer.checkout(crypto)
  const pay = (action: string) => atSandbox(where, order.payment_method_data.session_id, action)
  return { buyer, order, id, pay }
}

const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`

it("the mail about an expired order contains the amount of a part payment", async () => {
  const { buyer, order, pay } = await checkedOut(service)
  await pay("underpay")
  const text = await awaitLetter(buyer, "order_expired")
  const part = Math.floor(order.total_in_cents / 2)
  expect(text).toContain("was not paid in full in time")
  expect(text).toContain(`We received ${dollars(part)} for this order. Contact us to get it refunded.`)
})

it("the mail about an expired order does not mention a refund if nothing was paid", async () => {
  const { buyer } = await checkedOut(service)
  const text = await awaitLetter(buyer, "order_expired")
  expect(text).toContain("was not paid in time")
  expect(text).not.toContain("refunded")
})

it("a receipt shows the overpaid amount until this amount is refunded", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order, pay } = await checkedOut(service)
  await pay("overpay")
  const surplus = Math.max(1, Math.floor(order.total_in_cents / 10))
  expect(await awaitLetter(buyer, "order_receipt")).toContain(
    `You paid ${dollars(surplus)} too much. Contact us to get it refunded.`,
  )
  await admin.call("POST", `/orders/${order.id}/refund`, { amount: surplus })
  await admin.call("POST", `/orders/${order.id}/resend_confirmation`)
  const [again] = await lettersTo(buyer)
  expect(again).toMatchObject({ kind: "order_receipt", text: expect.not.stringContaining("refunded") })
})

it("a buyer gets a mail about a payment for a cancelled order whose id another user owns", async () => {
  const { buyer, id, order, pay } = await checkedOut(service)
  await buyer.call("DELETE", "/cart")
  const other = await newShopper(service)
  await other.add(id)
  expect((await other.checkout({ method: "Free" })).body.status).toBe("Paid")
  await pay("pay")
  const text = await awaitLetter(buyer, "payment_kept")
  expect(text).toContain(`We received ${dollars(order.total_in_cents)} for order ${order.order_number}.`)
  expect(text).toContain("The order has expired or was cancelled")
})

it("a buyer gets one mail about an additional payment for a paid order", async () => {
  const { buyer, order, pay } = await checkedOut(service)
  await pay("pay")
  await awaitLetter(buyer, "order_receipt")
  await pay("overpay")
  expect(await awaitLetter(buyer, "payment_kept")).toContain("The order was already paid.")
  expect((await buyer.order(order.id)).body.amount_overpaid_in_cents).toBeGreaterThan(0)
  expect((await lettersTo(buyer)).map(({ kind }) => kind)).toEqual(["payment_kept", "order_receipt"])
})

it("a buyer gets a mail about a payment that arrives after the order was converted to a draft", async () => {
  const { buyer, order, pay } = await checkedOut(service)
  await buyer.call("POST", "/cart/convert_to_draft")
  await pay("pay")
  expect(await awaitLetter(buyer, "payment_kept")).toContain(
    `We received ${dollars(order.total_in_cents)} for order ${order.order_number}. The order is back in your cart.`,
  )
  expect((await buyer.checkout(crypto)).body.status).toBe("Paid")
})

it("a deleted account gets no mail about payments", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const { buyer, order, pay } = await checkedOut(service)
  await admin.call("DELETE", `/users/${buyer.id}`)
  for (const action of ["pay", "overpay"]) await pay(action)
  const { body } = await until(
    () => admin.order(order.id),
    ({ body: shown }) => shown.amount_overpaid_in_cents > order.total_in_cents,
  )
  expect(body.status).toBe("Cancelled")
  expect(await lettersTo(buyer)).toEqual([])
})
