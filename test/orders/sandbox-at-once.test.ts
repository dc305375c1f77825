import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"
import { expectInvariants } from "./oracle.ts"
import { atSandbox, crypto, freshIds, newShopper, until } from "./shopper.ts"

const service = await serve()

it("a refund that is clicked twice while the sandbox works on it is made once, and both are answered", async () => {
  const buyer = await newShopper(service)
  const admin = await newShopper(service, { role: "Admin" })
  await buyer.add(...freshIds(2))
  const { body: order } = await buyer.checkout(crypto)
  await atSandbox(service, order.payment_method_data.session_id, "pay")
  await until(
    () => buyer.order(order.id),
    (answer) => answer.body.status === "Paid",
  )
  const { clicks } = await service.sql.begin(async (sql) => {
    await sql`select 1 from sandbox_intent where order_id = ${order.id} for update`
    const sent = []
    for (const _ of ["once", "and again"]) {
      sent.push(admin.call("POST", `/orders/${order.id}/refund`, { amount: 100 }))
      await expect.poll(() => waiting(service)).toHaveLength(sent.length)
    }
    return { clicks: sent }
  })
  for (const { body, status } of await Promise.all(clicks))
    expect([status, body.refunded_total_in_cents]).toEqual([200, 100])
  await expectInvariants(service.sql)
})
