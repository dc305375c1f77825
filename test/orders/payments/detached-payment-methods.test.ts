import { expect, it } from "vitest"
import { detachRemovedMethods } from "../../../src/orders/payments/detach-payment-method.ts"
import { createDatabase } from "../../fixtures/database.ts"
import { proxyTo } from "../../fixtures/servers/database-proxy.ts"
import { serve } from "../../fixtures/service.ts"
import { newShopper } from "../shopper.ts"
import { openStripe, tellOf } from "./stripe-server.ts"

const stripe = await openStripe()
const proxy = await proxyTo(await createDatabase())
const service = await serve(stripe.settings, { database: proxy.address })

const away = { status: 500, body: { error: { type: "api_error", message: "away" } } }
const detached = (id: string) =>
  stripe.asked.filter(({ path }) => path === `/v1/payment_methods/${id}/detach`).length

/** Creates a buyer with a stored card. `pays` sends the webhook that reports the card. */
const withCard = async () => {
  const { buyer, order } = await stripe.paidOrder(service)
  const id = `pm_${order.id}`
  const pays = () =>
    tellOf(service, "charge.succeeded", {
      object: "charge",
      metadata: { order_id: order.id },
      payment_method: id,
      payment_method_details: { card: { brand: "amex", last4: "0005", exp_month: 1, exp_year: 2031 } },
    })
  await pays()
  const cards = async () => (await buyer.call("GET", "/payment_methods")).body.length
  expect(await cards()).toBe(1)
  return { buyer, cards, id, pays, forget: () => buyer.call("DELETE", `/payment_methods/${id}`) }
}

/** Runs the next periodic detachment, as if two minutes had passed. */
const round = async () => {
  await service.sql`update method_to_forget set at = now() - interval '2 minutes'`
  await service.runtime.runPromise(detachRemovedMethods)
}

it("a deleted card is removed from the list and detached at the provider, even if a database response is lost", async () => {
  const { cards, forget, id } = await withCard()
  const before = proxy.lost()
  proxy.loseAnswerTo("update payment_method set deleted_at")
  expect((await forget()).status).toBe(200)
  expect(proxy.lost()).toBe(before + 1)
  expect([detached(id), await cards()]).toEqual([1, 0])
})

it("a deleted card is removed from the list immediately, and detached when the provider is available again", async () => {
  const { cards, forget, id, pays } = await withCard()
  stripe.how.failing = away
  for (const _ of ["once", "and again"]) {
    const answer = await forget()
    expect([answer.status, answer.body.last4]).toEqual([200, "0005"])
  }
  expect(await cards()).toBe(0)
  await round()
  stripe.how.failing = undefined
  stripe.asked.length = 0
  await round()
  expect(detached(id)).toBe(1)
  await round()
  expect(detached(id)).toBe(1)
  expect((await forget()).status).toBe(404)
  await pays()
  expect(await cards()).toBe(0)
})

it("the card of a deleted account is detached at the provider, and a late webhook does not store it again", async () => {
  const { buyer, id, pays } = await withCard()
  const admin = await newShopper(service, { role: "Admin" })
  expect((await admin.call("DELETE", `/users/${buyer.id}`)).status).toBe(200)
  await round()
  expect(detached(id)).toBe(1)
  expect((await pays()).status).toBe(200)
  expect(await service.sql`select 1 from payment_method where user_id = ${buyer.id}`).toEqual([])
  expect(await service.sql`select 1 from method_to_forget`).toEqual([])
})
