import { setTimeout as sleep } from "node:timers/promises"
import type { Body } from "./api.ts"
import { freshId, perform, succeed, type User, type World } from "./world.ts"

const urls = { success_url: "https://shop.example/done", cancel_url: "https://shop.example/back" }
const methods = ["Free", "CardCheckout", "CardCheckout", "CryptoCommerce"] as const
const paidPatienceMs = 40_000
/** A contested id can be sold, an order can expire, and a code can be used up. */
const contested = [409, 422]

/** Buys an id: cart, checkout, sometimes a code, and the payment at the sandbox with its webhook. */
export const buy = async (world: World, user: User): Promise<void> => {
  const { luck } = user
  const isContested = luck.chance(0.3)
  const id = isContested ? luck.pick(world.contested)! : freshId(world.seed)
  const method = luck.pick(methods)!
  const code = luck.chance(0.3) ? luck.pick(world.codes)! : undefined
  const isAbandoned = luck.chance(0.1)
  const mayAnswer = contested
  await succeed(world, user, { name: "clearCart", method: "DELETE", path: "/cart", mayAnswer })
  const cart = await succeed(world, user, {
    name: "addToCart",
    method: "POST",
    path: "/cart",
    body: { items: [{ emoji_id: id }] },
    mayAnswer: isContested ? mayAnswer : [],
  })
  if (cart === undefined) return
  let order: Body | undefined = await succeed(world, user, {
    name: method === "Free" ? "checkoutFree" : "checkout",
    method: "POST",
    path: "/cart/checkout",
    body: { method, ...(method === "CardCheckout" ? urls : {}) },
    // A user has few free ids.
    mayAnswer: isContested || method === "Free" ? mayAnswer : [],
  })
  if (order === undefined) return
  if (order.status === "PendingPayment" && code !== undefined) {
    const reduced = await succeed(world, user, {
      name: "promoCode",
      method: "POST",
      path: "/cart/promo_code",
      body: { code },
      mayAnswer,
    })
    order = reduced ?? order
  }
  if (isAbandoned && order.status === "PendingPayment") return
  if (order.status === "PendingPayment" && !(await pay(world, user, order))) return
  if (order.status !== "Paid" && !(await isPaid(world, user, order.id))) return
  user.ids.push(id)
  world.unchecked.add({
    invariant: 6,
    what: `order ${order.id} of ${user.name} was shown as Paid`,
    query:
      "select count(*) as found from entity where kind = 'order' and id = $1::uuid and status = 'Paid' and owner_id = $2::uuid",
    values: [order.id, user.id],
    expected: 1,
  })
}

/** Pays at the page of the sandbox. True if the sandbox confirmed it. */
const pay = async (world: World, user: User, order: Body): Promise<boolean> => {
  const session = sessionOf(order)
  if (session === undefined) return false
  const answer = await perform(world, user, {
    name: "payAtSandbox",
    method: "POST",
    path: `/sandbox/checkout/${session}`,
    form: { action: "pay" },
    mayAnswer: [404, 409],
  })
  if (answer.outcome === "failed") return false
  world.unchecked.payments.push({ order: order.id, buyer: user.id })
  return true
}

/** The checkout at the sandbox is the last part of its address. */
const sessionOf = (order: Body): string | undefined =>
  /\/sandbox\/checkout\/([^/?"]+)/.exec(JSON.stringify(order))?.[1]

const isPaid = async (world: World, user: User, id: string): Promise<boolean> => {
  for (const until = Date.now() + paidPatienceMs; Date.now() < until && !world.isOver(); await sleep(200)) {
    const order = await succeed(world, user, { name: "getOrder", method: "GET", path: `/orders/${id}` })
    if (order?.status === "Paid") return true
    if (order?.status === "Cancelled") return false
  }
  return false
}
