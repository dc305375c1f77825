import { expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { atSandbox, crypto, freshId, newShopper, until } from "./shopper.ts"

const service = await serve({ CART_TTL_SECONDS: "2", SWEEP_INTERVAL_MS: "50" })

type Buyer = Awaited<ReturnType<typeof newShopper>>

const lettersTo = async ({
  email,
}: Pick<Buyer, "email">): Promise<ReadonlyArray<{ kind: string; text: string }>> =>
  (await service.call("GET", `/dev/outbox?to=${encodeURIComponent(email)}`)).body

const awaitLetter = async (buyer: Buyer, kind: string): Promise<string | undefined> => {
  const letters = await until(
    () => lettersTo(buyer),
    (all) => all.some((letter) => letter.kind === kind),
    5000,
  )
  return letters.find((letter) => letter.kind === kind)?.text
}

const checkedOut = async (where: TestService, id = freshId()) => {
  const buyer = await newShopper(where)
  await buyer.add(id)
  const { body: order } = await buyer.checkout(crypto)
  const pay = (action: string) => atSandbox(where, order.payment_method_data.session_id, action)
  return { buyer, order, id, pay }
}

const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`

it("who has paid a part of an order that ran out of time is told what is kept for them", async () => {
  const { buyer, order, pay } = await checkedOut(service)
  await pay("underpay")
  const text = await awaitLetter(buyer, "order_expired")
  const part = Math.floor(order.total_in_cents / 2)
  expect(text).toContain("was not paid in full in time")
  expect(text).toContain(`${dollars(part)} came in for it and is kept for you`)
})

it("who has paid nothing of it is not", async () => {
  const { buyer } = await checkedOut(service)
  const text = await awaitLetter(buyer, "order_expired")
  expect(text).toContain("was not paid in time")
  expect(text).not.toContain("kept")
})
