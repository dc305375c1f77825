import { beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { atSandbox, card, crypto, freshIds, newShopper, shopper, until, untilAnswered } from "../shopper.ts"

let one: TestService
let two: TestService
beforeAll(async () => {
  one = await serve({}, { peersPossible: true })
  two = await serve({}, { database: one.database, peersPossible: true })
})

const crowd = (count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, i) => shopper(i % 2 === 0 ? one : two, await one.user())),
  )

it("fifty of two hundred concurrent buyers get the fifty ids, and all other buyers are rejected with the reason", async () => {
  const ids = freshIds(50)
  const buyers = await crowd(200)
  const send = (path: string, bodyOf: (place: number) => unknown) =>
    Promise.all(
      buyers.map((buyer, i) => untilAnswered((options) => buyer.call("POST", path, bodyOf(i), options))),
    )
  await send("/cart", (place) => ({ items: [{ emoji_id: ids[place % 50] }] }))
  const answers = await send("/cart/checkout", () => card)
  const won = answers.flatMap(({ body, status }, i) =>
    status === 200 ? [{ buyer: buyers[i]!, order: body }] : [],
  )
  expect(won).toHaveLength(50)
  expect(new Set(won.map(({ order }) => order.order_items[0].emoji_id)).size).toBe(50)
  for (const answer of answers) {
    if (answer.status === 200) continue
    expect(answer.status).toBe(422)
    expect(answer.body.fields.eid[0].code).toBe("eligibility")
    expect(answer.body.items[0].marked_invalid_at_reason).toBe("PendingPurchase")
  }
  await expectInvariants(one.sql)
  // No payment intent was created for a rejected buyer.
  const asked = await one.sql`select order_id from sandbox_intent`
  expect(new Set(asked.map((row) => row["order_id"]))).toEqual(new Set(won.map(({ order }) => order.id)))
  await Promise.all(
    won.map(({ order }, i) =>
      atSandbox(i % 2 === 0 ? one : two, order.payment_method_data.session_id, "pay"),
    ),
  )
  await until(
    async () => (await one.sql`select 1 from entity where status = 'Paid'`).length,
    (paid) => paid === 50,
  )
  await expectInvariants(one.sql)
  const owned = await one.sql`select canonical from emoji_id where canonical = any(${ids as string[]})`
  expect(owned).toHaveLength(50)
  const loser = buyers.find((_, i) => answers[i]!.status === 422)!
  expect((await loser.cart()).body.order_items[0].marked_invalid_at_reason).toBe("Taken")
})

it("a checkout claims all ids of a cart or none when carts with the same ids are checked out concurrently", async () => {
  const ids = freshIds(12)
  const buyers = await crowd(24)
  await Promise.all(buyers.map((buyer, i) => buyer.add(...[0, 1, 2, 3].map((n) => ids[(i + 3 * n) % 12]!))))
  await Promise.all(
    buyers.map(async (buyer, i) => {
      for (let round = 0; round < 4; round++) {
        const { body, status } = await buyer.checkout(i % 3 === 0 ? crypto : card)
        if (status !== 200) continue
        if (i % 4 === 0) await buyer.call("POST", "/cart/convert_to_draft")
        else if (i % 4 === 1) {
          const session = body.payment_method_data?.session_id
          await Promise.all([atSandbox(one, session, "pay"), buyer.call("DELETE", "/cart")])
        } else if (i % 4 === 2) await atSandbox(two, body.payment_method_data?.session_id, "pay")
      }
    }),
  )
  expect(
    await until(
      async () => (await one.sql`select 1 from sandbox_webhook where delivered_at is null`).length,
      (waiting) => waiting === 0,
    ),
  ).toBe(0)
  await expectInvariants(one.sql)
})

it("concurrent requests of one buyer to two processes create only one order", async () => {
  const buyer = await newShopper(one)
  const [id] = freshIds(1) as [string]
  const five = (send: (at: TestService) => Promise<{ status: number }>) =>
    Promise.all([one, two, one, two, one].map(send))
  const added = await five((at) =>
    at.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: id }] } }),
  )
  expect(added.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422, 422])
  const held = await five((at) => at.call("POST", "/cart/checkout", { token: buyer.token, body: card }))
  for (const { status } of held) expect(status).toBe(200)
  const orders = await one.sql`select status from entity where kind = 'order' and owner_id = ${buyer.id}`
  expect(orders).toEqual([{ status: "PendingPayment" }])
  await expectInvariants(one.sql)
})
