import { describe, expect, it } from "vitest"
import { bitcoin, otherBitcoin, serveDirectory } from "../directory/directory-service.ts"
import { atSandbox, freshId, until } from "../orders/shopper.ts"
import { locationOf, logInByMail, makeVisitor, type Visitor } from "../sign-in/oauth/application.ts"
import { makePartner, makeWalletUser } from "./partner.ts"

const service = await serveDirectory()
await makePartner(service)
const path = "/partner/octo"

let devices = 0

const enter = async (visitor: Visitor, sent: Record<string, string>) => {
  await visitor.get(`${path}?${new URLSearchParams(sent)}`)
  return visitor.get(path)
}
const cartOf = (visitor: Visitor) => visitor.get(`${path}?cart`)
const recordsOf = async (id: string) => JSON.stringify((await service.lookup(id)).body.result)

/**
 * Starts a visit of a user who has no free ids, and puts an id into the cart. `revisit` starts another visit with an
 * address.
 */
const chooseId = async () => {
  const user = await makeWalletUser(service, `visits-${++devices}`)
  await service.sql`update app_user set free_limit = 0 where id = ${user.id}`
  const visitor = makeVisitor(service)
  const id = freshId()
  const revisit = (address: string) =>
    enter(visitor, { refresh_token: user.refresh, addresses: `0x1003=${address}` })
  await visitor.submit(await revisit(bitcoin), { action: "choose", emoji_id: id })
  return { user, visitor, id, revisit }
}

/** Pays the order in the sandbox and opens the page to which the buyer returns. */
const pay = async (
  user: { readonly id: string },
  visitor: Visitor,
  paying: Parameters<typeof locationOf>[0],
) => {
  await atSandbox(service, locationOf(paying).pathname.split("/").at(-1) ?? "", "pay")
  const order = await until(
    async () =>
      (
        await service.sql`select id from entity where kind = 'order' and owner_id = ${user.id} and status = 'Paid'`
      )[0]?.["id"],
    (found) => found !== undefined,
  )
  return visitor.get(`${path}/paid?order=${order}&again`)
}

describe("a second visit to a partner flow while the order of the first visit is pending", () => {
  it("writes the address after the payment if both visits sent the same address", async () => {
    const { revisit, id, user, visitor } = await chooseId()
    await visitor.submit(await cartOf(visitor), { action: "crypto" })
    await revisit(bitcoin)
    await visitor.submit(await cartOf(visitor), { action: "draft" })
    const paying = await visitor.submit(await cartOf(visitor), { action: "crypto" })
    const back = await pay(user, visitor, paying)
    expect(locationOf(back).searchParams.get("eid")).toBe(id)
    expect(await recordsOf(id)).toContain(bitcoin)
  })

  it("writes the address that the cart page showed when the user continued to the payment", async () => {
    const { revisit, id, user, visitor } = await chooseId()
    await visitor.submit(await cartOf(visitor), { action: "crypto" })
    await revisit(otherBitcoin)
    const cart = await cartOf(visitor)
    expect([cart.text.includes(bitcoin), cart.text.includes(otherBitcoin)]).toEqual([false, true])
    const back = await pay(user, visitor, await visitor.submit(cart, { action: "pay" }))
    expect(locationOf(back).searchParams.get("eid")).toBe(id)
    expect(await recordsOf(id)).toContain(otherBitcoin)
  })

  it("shows no addresses in the cart if the order was checked out outside the partner flow", async () => {
    const { revisit, user, visitor } = await chooseId()
    const elsewhere = await service.call("POST", "/cart/checkout", {
      token: user.token,
      body: { method: "CryptoCommerce" },
    })
    expect(elsewhere.body.status).toBe("PendingPayment")
    await revisit(bitcoin)
    const cart = await cartOf(visitor)
    expect([cart.text.includes("Payment pending"), cart.text.includes(bitcoin)]).toEqual([true, false])
  })
})

it("addresses that a partner sent to the page for managing records are not written to an id that is bought later", async () => {
  const user = await service.user()
  const visitor = makeVisitor(service)
  await logInByMail(service, visitor, path, user.email)
  await visitor.get(`${path}/manage?${new URLSearchParams({ addresses: `0x1003=${bitcoin}` })}`)
  const id = freshId()
  await visitor.submit(await visitor.get(path), { action: "choose", emoji_id: id })
  const cart = await cartOf(visitor)
  expect(cart.text).not.toContain(bitcoin)
  const done = await visitor.submit(cart, { action: "free" })
  expect(locationOf(done).searchParams.get("eid")).toBe(id)
  expect(await recordsOf(id)).not.toContain(bitcoin)
})
