import { expect, it } from "vitest"
import { bitcoin, serveDirectory } from "../directory/directory-service.ts"
import { atSandbox, card } from "../orders/shopper.ts"
import { locationOf, makeVisitor } from "../sign-in/oauth/application.ts"
import { makePartner, makeWalletUser } from "./partner.ts"

const service = await serveDirectory()
await makePartner(service)
const path = "/partner/octo"

it("a cart that a redemption code pays completely can be checked out for free in the partner flow", async () => {
  const code = { name: "gift", code_type: "RandomYat", activator: "RedemptionCode", redemption_code: "GIFT" }
  const made = await service.call("POST", "/codes", { token: service.admin.token, body: code })
  expect(made.status).toBe(200)
  const user = await makeWalletUser(service, "gifted")
  const given = await service.call("POST", "/codes/GIFT/random_yat", {
    token: user.token,
    body: { nonce: "1", pubkey: "-", signature: "-" },
  })
  expect(given.body).toMatchObject({ status: "PendingPayment", total_in_cents: 0 })

  const visitor = makeVisitor(service)
  const sent = { refresh_token: user.refresh, addresses: `0x1003=${bitcoin}` }
  await visitor.get(`${path}?${new URLSearchParams(sent)}`)
  const cart = await visitor.get(`${path}?cart`)
  expect(cart.text).toContain('value="free"')
  expect(cart.text).not.toContain("Payment pending")
  expect(cart.text).not.toContain('<s class="soft">$0.00')
  const eid = locationOf(await visitor.submit(cart, { action: "free" })).searchParams.get("eid") ?? ""
  expect(eid).toBe(given.body.order_items[0].emoji_id)
  expect(JSON.stringify((await service.lookup(eid)).body.result)).toContain(bitcoin)
})

it("the cart of a partner flow asks only for the remaining amount after a partial payment", async () => {
  const user = await makeWalletUser(service, "half-paid")
  await service.sql`update app_user set free_limit = 0 where id = ${user.id}`
  const items = [{ emoji_id: "🐢🎻🐢" }, { emoji_id: "🐢🎻🐢🎻🐢" }]
  await service.call("POST", "/cart", { token: user.token, body: { items } })
  const { body } = await service.call("POST", "/cart/checkout", { token: user.token, body: card })
  const visitor = makeVisitor(service)
  await visitor.get(`${path}?${new URLSearchParams({ refresh_token: user.refresh })}`)
  expect((await visitor.get(`${path}?cart`)).text).not.toContain("Still to pay")
  await atSandbox(service, body.payment_method_data.session_id, "underpay")
  const due = ((body.remaining_due_in_cents - Math.floor(body.remaining_due_in_cents / 2)) / 100).toFixed(2)
  expect((await visitor.get(`${path}?cart`)).text).toContain(`Still to pay</span><strong>$${due}`)

  // After the more expensive id is removed, the partial payment covers the other id.
  await service.call("POST", "/cart/convert_to_draft", { token: user.token })
  const dearer = body.order_items.toSorted(
    (a: { unit_price_in_cents: number }, b: typeof a) => b.unit_price_in_cents - a.unit_price_in_cents,
  )[0]
  await service.call("DELETE", `/cart/cart_items/${dearer.id}`, { token: user.token })
  const draft = await visitor.get(`${path}?cart`)
  expect(draft.text).not.toContain("Pay by card")
  await visitor.submit(draft, { action: "free" })
  const { body: orders } = await service.call("GET", "/orders", { token: user.token })
  expect(orders.data.find(({ id }: { id: string }) => id === body.id).status).toBe("Paid")
})
