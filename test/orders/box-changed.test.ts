import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"
import { atSandbox, crypto, freshId, newShopper, until } from "./shopper.ts"

const service = await serve({}, { peersPossible: true })
const other = await serve({}, { database: service.database, peersPossible: true })
const admin = await newShopper(service, { role: "Admin" })
const otherAdmin = await newShopper(other, { role: "Admin" })

/** An order of a box that was called off before its payment came, which it does once the box was changed like this. */
const payLate = async (change: { readonly yats?: ReadonlyArray<string> }) => {
  const { body: box } = await admin.call("POST", "/lootboxes", { status: "Available", yats: [freshId()] })
  const buyer = await newShopper(service)
  await buyer.call("POST", "/cart", { items: [{ lootbox_id: box.id }] })
  const { body: order } = await buyer.checkout(crypto)
  await buyer.call("DELETE", "/cart")
  expect((await admin.call("PATCH", `/lootboxes/${box.id}`, { status: "Available", ...change })).status).toBe(
    200,
  )
  await atSandbox(service, order.payment_method_data.session_id, "pay")
  const { body: paid } = await until(
    () => buyer.order(order.id),
    ({ body }) => body.status === "Paid" || body.eligible_for_refund,
  )
  return { paid, box: () => admin.call("GET", `/lootboxes/${box.id}`), buyer }
}

it("a late payment does not buy a box for the price of what was in it before", async () => {
  const { box, paid } = await payLate({ yats: [freshId(), freshId()] })
  expect(paid).toMatchObject({ status: "Cancelled", eligible_for_refund: true })
  expect((await box()).body.status).toBe("Available")
})

it("a late payment buys a box that is what it was", async () => {
  const { box, buyer, paid } = await payLate({})
  expect(paid.status).toBe("Paid")
  const { body } = await until(box, (answer) => answer.body.status === "Owned")
  expect(body).toMatchObject({ status: "Owned", owner_id: buyer.id })
})

it("a box that is filled anew while it is checked out is not sold for the price of what was in it before", async () => {
  const { body: box } = await admin.call("POST", "/lootboxes", { status: "Available", yats: [freshId()] })
  const buyer = await newShopper(service)
  const { body: cart } = await buyer.call("POST", "/cart", { items: [{ lootbox_id: box.id }] })
  let checkout: ReturnType<typeof buyer.checkout> | undefined
  const yats = [freshId(), freshId()]
  // What the checkout has decided waits for the order's row; the box does not.
  const filled = await service.sql.begin(async (sql) => {
    await sql`select 1 from entity where kind = 'order' and id = ${cart.id} for update`
    checkout = buyer.checkout(crypto)
    await until(
      () => waiting(other),
      (found) => found.length > 0,
    )
    return otherAdmin.call("PATCH", `/lootboxes/${box.id}`, { yats })
  })
  expect(filled.status).toBe(200)
  const refused = await checkout
  expect(refused).toMatchObject({ status: 422, body: { fields: { eid: [{ code: "eligibility" }] } } })
  expect((await buyer.cart()).body.status).toBe("Draft")
  const { body: order } = await buyer.checkout(crypto)
  expect(order).toMatchObject({ status: "PendingPayment", total_in_cents: filled.body.total_value })
})
