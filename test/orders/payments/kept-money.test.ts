import { beforeAll, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { newShopper } from "../shopper.ts"
import { intentOf, openStripe, tellOf } from "./stripe-server.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)
let admin: Awaited<ReturnType<typeof newShopper>>
beforeAll(async () => {
  admin = await newShopper(service, { role: "Admin" })
})

/** Creates a cancelled order that was paid after its id was registered for another user. */
const paidInVain = async () => {
  const { buyer, order } = await stripe.pendingOrder(service)
  await buyer.call("DELETE", "/cart")
  const [item] = order.order_items
  await admin.call("POST", "/emoji_id", { emoji_id: item.emoji_id, user_id: admin.id })
  const paid = intentOf(order.id, order.total_in_cents, `pi_${order.id}`)
  await tellOf(service, "payment_intent.succeeded", paid)
  return { buyer, order }
}
const listed = async (query: string) => {
  const { body } = await admin.call("GET", `/orders?${query}`)
  return [body.paging.total, body.data.map(({ id }: { id: string }) => id)]
}
/** Starts a new process and reads two metrics: the number of cancelled orders with unrefunded money, and the amount. */
const metrics = async () => {
  const fresh = await serve(stripe.settings, { database: service.database })
  const { text } = await fresh.call("GET", "/metrics")
  await fresh.stop()
  const of = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1])
  return [of("orders_cancelled_with_money"), of("orders_cancelled_held_cents")]
}

it("cancelled orders with unrefunded money are listed, and counted in the metrics", async () => {
  const other = await stripe.pendingOrder(service)
  await other.buyer.call("DELETE", "/cart")
  await stripe.paidOrder(service)
  expect(await metrics()).toEqual([0, 0])
  const { buyer, order } = await paidInVain()
  expect((await admin.order(order.id)).body.status).toBe("Cancelled")
  expect(await metrics()).toEqual([1, order.total_in_cents])
  expect(await listed("all=true&holds_money=true")).toEqual([1, [order.id]])
  expect(await listed("all=true&holds_money=true&status=Draft")).toEqual([0, []])
  expect(await listed(`user_id=${buyer.id}&status=Cancelled&holds_money=true`)).toEqual([1, [order.id]])
  expect((await listed("all=true&holds_money=false"))[0]).toBe(2)

  await admin.call("POST", `/orders/${order.id}/refund`, {})
  expect(await listed("all=true&holds_money=true")).toEqual([0, []])
  expect(await metrics()).toEqual([0, 0])
})
