import { describe, expect, it } from "vitest"
import { normalizeRecord } from "../../schema/directory/records/record.ts"
import { bitcoin, otherBitcoin, serveDirectory } from "../directory/directory-service.ts"
import { atSandbox, freshId, until } from "../orders/shopper.ts"
import { locationOf, logInByMail, makeVisitor, type Visitor } from "../sign-in/oauth/application.ts"
import { addressJson, makePartner, makeWalletUser } from "./partner.ts"

const service = await serveDirectory()
await makePartner(service)
const path = "/partner/octo"

let devices = 0
const walletUser = () => makeWalletUser(service, `again-${++devices}`)

const enter = async (visitor: Visitor, sent: Record<string, string>) => {
  await visitor.get(`${path}?${new URLSearchParams(sent)}`)
  return visitor.get(path)
}

const recordsOf = async (id: string) => JSON.stringify((await service.lookup(id)).body.result)
const orderOf = async (userId: string): Promise<string> => {
  const [row] = await service.sql`
    select id from entity where kind = 'order' and owner_id = ${userId} and status = 'Paid'`
  return row?.["id"]
}

/** Starts a visit with an address, and puts an id into the cart. */
const chooseId = async () => {
  const user = await walletUser()
  const visitor = makeVisitor(service)
  const id = freshId()
  const page = await enter(visitor, { refresh_token: user.refresh, addresses: `0x1003=${bitcoin}` })
  await visitor.submit(page, { action: "choose", emoji_id: id })
  return { user, visitor, id, cart: await visitor.get(`${path}?cart`) }
}

/** Starts a visit with an address, and gets an id with a free checkout. */
const getId = async () => {
  const { cart, id, user, visitor } = await chooseId()
  const done = await visitor.submit(cart, { action: "free" })
  expect(locationOf(done).searchParams.get("eid")).toBe(id)
  expect(await recordsOf(id)).toContain(bitcoin)
  return { user, visitor, id, cart, paid: `${path}/paid?order=${await orderOf(user.id)}&again` }
}

describe("buying an id in a partner flow", () => {
  it("does not overwrite an address that the owner has changed, if the page after the payment is reloaded", async () => {
    const { id, paid, user, visitor } = await getId()
    await service.edit(id, user, { insert: [{ tag: "0x1003", data: otherBitcoin }] })
    const again = await visitor.get(paid)
    expect(locationOf(again).searchParams.get("eid")).toBe(id)
    expect(await recordsOf(id)).toContain(otherBitcoin)
    expect(await recordsOf(id)).not.toContain(bitcoin)
  })

  it("does not overwrite a record that the owner wrote between the payment and the return to the partner", async () => {
    const { cart, id, user, visitor } = await chooseId()
    const paying = await visitor.submit(cart, { action: "crypto" })
    await atSandbox(service, locationOf(paying).pathname.split("/").at(-1) ?? "", "pay")
    const order = await until(
      () => orderOf(user.id),
      (found) => found !== undefined,
    )
    await service.edit(id, user, { insert: [{ tag: "0x1003", data: otherBitcoin }] })
    const done = await visitor.get(`${path}/paid?order=${order}&again`)
    expect(locationOf(done).searchParams.get("eid")).toBe(id)
    expect(await recordsOf(id)).toContain(otherBitcoin)
    expect(await recordsOf(id)).not.toContain(bitcoin)
  })

  it("does not write the addresses of a later visit to an id that was bought in an earlier visit", async () => {
    const { id, paid, user, visitor } = await getId()
    await enter(visitor, { refresh_token: user.refresh, addresses: `0x1003=${otherBitcoin}` })
    const again = await visitor.get(paid)
    expect(locationOf(again).searchParams.get("eid")).toBe(id)
    expect(await recordsOf(id)).not.toContain(otherBitcoin)
  })

  it("writes the addresses to the id of a cancelled order that is paid after a new order was started", async () => {
    const user = await walletUser()
    await service.sql`update app_user set free_limit = 0 where id = ${user.id}`
    const visitor = makeVisitor(service)
    const page = await enter(visitor, { refresh_token: user.refresh, addresses: `0x1003=${bitcoin}` })
    const [late, other] = [freshId(), freshId()]
    const checkOut = async (id: string) => {
      await visitor.submit(page, { action: "choose", emoji_id: id })
      const paying = await visitor.submit(await visitor.get(`${path}?cart`), { action: "crypto" })
      return locationOf(paying).pathname.split("/").at(-1) ?? ""
    }
    const session = await checkOut(late)
    expect((await service.call("DELETE", "/cart", { token: user.token })).body.status).toBe("Cancelled")
    await checkOut(other)
    await atSandbox(service, session, "pay")
    const order = await until(
      () => orderOf(user.id),
      (found) => found !== undefined,
    )
    const done = await visitor.get(`${path}/paid?order=${order}&again`)
    expect(locationOf(done).searchParams.get("eid")).toBe(late)
    expect(await recordsOf(late)).toContain(bitcoin)
  })

  it("writes the addresses to the remaining ids of an order if one id was deleted", async () => {
    const user = await walletUser()
    await service.sql`update app_user set free_limit = 0 where id = ${user.id}`
    const visitor = makeVisitor(service)
    const page = await enter(visitor, { refresh_token: user.refresh, addresses: `0x1003=${bitcoin}` })
    const [gone, kept] = [freshId(), freshId()]
    for (const id of [gone, kept]) await visitor.submit(page, { action: "choose", emoji_id: id })
    const paying = await visitor.submit(await visitor.get(`${path}?cart`), { action: "crypto" })
    await atSandbox(service, locationOf(paying).pathname.split("/").at(-1) ?? "", "pay")
    const order = await until(
      () => orderOf(user.id),
      (found) => found !== undefined,
    )
    await service.call("DELETE", `/emoji_id/${encodeURIComponent(gone)}`, { token: service.admin.token })
    await visitor.get(`${path}/paid?order=${order}&again`)
    expect(await recordsOf(kept)).toContain(bitcoin)
  })

  it("does not write addresses to an id that now has another owner, even if the buyer is an administrator", async () => {
    const [user, other] = [await walletUser(), await service.user()]
    await service.sql`update app_user set free_limit = 0, role = 'Admin' where id = ${user.id}`
    const visitor = makeVisitor(service)
    const page = await enter(visitor, { refresh_token: user.refresh, addresses: `0x1003=${bitcoin}` })
    const id = freshId()
    await visitor.submit(page, { action: "choose", emoji_id: id })
    const paying = await visitor.submit(await visitor.get(`${path}?cart`), { action: "crypto" })
    await atSandbox(service, locationOf(paying).pathname.split("/").at(-1) ?? "", "pay")
    const order = await until(
      () => orderOf(user.id),
      (found) => found !== undefined,
    )
    await service.sql`update emoji_id set owner_id = ${other.id}, pubkey = null where canonical = ${id}`
    await visitor.get(`${path}/paid?order=${order}&again`)
    expect(await recordsOf(id)).not.toContain(bitcoin)
  })

  it("does not write addresses to the ids of a cart that was later checked out outside the partner flow", async () => {
    const { cart, user, visitor } = await chooseId()
    await visitor.submit(cart, { action: "crypto" })
    const call = (method: string, where: string, body?: object) =>
      service.call(method, where, { token: user.token, ...(body === undefined ? {} : { body }) })
    expect((await call("POST", "/cart/convert_to_draft")).body.status).toBe("Draft")
    await call("DELETE", "/cart")
    const id = freshId()
    await call("POST", "/cart", { items: [{ emoji_id: id }] })
    expect((await call("POST", "/cart/checkout", { method: "Free" })).body.status).toBe("Paid")
    await visitor.get(`${path}/paid?order=${await orderOf(user.id)}&again`)
    expect(await recordsOf(id)).not.toContain(bitcoin)
  })

  it("returns to the partner with the id when the buy button is pressed twice", async () => {
    const { cart, id, visitor } = await getId()
    const again = await visitor.submit(cart, { action: "free" })
    expect(locationOf(again).searchParams.get("eid")).toBe(id)
  })

  it("returns to the partner with the id in both of two simultaneous requests", async () => {
    const { cart, id, visitor } = await chooseId()
    const answers = await Promise.all([1, 2].map(() => visitor.submit(cart, { action: "free" })))
    expect(answers.map((answer) => locationOf(answer).searchParams.get("eid"))).toEqual([id, id])
  })

  it("returns to the partner if the user keeps an owned id, even if another process has just written the address", async () => {
    const user = await walletUser()
    const id = freshId()
    await service.register(id, user)
    expect(await recordsOf(id)).not.toContain(bitcoin)
    const visitor = makeVisitor(service)
    const page = await enter(visitor, {
      refresh_token: user.refresh,
      eid: id,
      addresses: `0x1003=${bitcoin}`,
    })
    const written = normalizeRecord({ tag: "0x1003", data: bitcoin })
    if (!("hash" in written)) throw new Error(written.message)
    await service.sql`insert into record (canonical, hash, tag, data)
                      select canonical, ${written.hash}, ${0x1003}, ${written.data} from emoji_id where owner_id = ${user.id}`
    const kept = await visitor.submit(page, { action: "keep" })
    expect(locationOf(kept).searchParams.get("eid")).toBe(id)
  })

  it.each(["-".repeat(36), "0".repeat(36), "1"])(
    "returns 404 for the invalid or unknown order id %s",
    async (name) => {
      const { visitor } = await chooseId()
      expect((await visitor.get(`${path}/paid?order=${name}`)).status).toBe(404)
    },
  )

  it("is refused with 400 if the partner starts to require an email address before the checkout", async () => {
    const { cart, user, visitor } = await chooseId()
    const asks = (forEmail: boolean) => service.sql`
      update organization set branding = coalesce(branding, '{}') || jsonb_build_object('requires_email', ${forEmail}::boolean)`
    await asks(true)
    const refused = await visitor.submit(cart, { action: "free" })
    await asks(false)
    expect([refused.status, refused.text.includes("requires its users to have an email address")]).toEqual([
      400,
      true,
    ])
    expect(await orderOf(user.id)).toBeUndefined()
  })

  it("shows that the cart is empty if its only item was removed before the checkout", async () => {
    const { cart, visitor } = await chooseId()
    await visitor.submit(cart, {
      action: "remove",
      item: /name="item" value="([^"]*)"/.exec(cart.text)?.[1] ?? "",
    })
    const refused = await visitor.submit(cart, { action: "free" })
    expect([refused.status, refused.text.includes("The cart is empty.")]).toEqual([422, true])
  })
})

it("partner pages show only the last of two addresses for one coin, and stop offering an address after it was written to an id", async () => {
  const user = await walletUser()
  const id = freshId()
  await service.register(id, user)
  const visitor = makeVisitor(service)
  const sent = {
    refresh_token: user.refresh,
    addresses: `0x1003=${bitcoin}`,
    address_json: addressJson([{ "0x1003": `${otherBitcoin}|My wallet` }]),
  }
  const shown = async (where: string) => {
    await visitor.get(`${path}${where}?${new URLSearchParams(sent)}`)
    const page = await visitor.get(path + where)
    expect([page.text.includes(bitcoin), page.text.includes(otherBitcoin)]).toEqual([false, true])
    return page
  }
  await shown("/link-email")
  await visitor.submit(await shown("/manage"), { action: "given", emoji_id: id })
  expect(await recordsOf(id)).toContain(otherBitcoin)
  expect((await visitor.get(`${path}/manage`)).text).not.toContain('value="given"')
})

it("a wallet's user can connect an id even if the browser has the cookie of an ended login session", async () => {
  const stranger = await service.user()
  const visitor = makeVisitor(service)
  const where = `${path}/link-email`
  await logInByMail(service, visitor, where, stranger.email)
  await service.call("POST", "/logout", { token: stranger.token })
  const user = await walletUser()
  const id = freshId()
  await service.register(id, user)
  await visitor.get(`${where}?${new URLSearchParams({ refresh_token: user.refresh })}`)
  const page = await visitor.get(where)
  expect(page.text).toContain(`Connect ${id}`)
  const done = await visitor.submit(page, { action: "connect", emoji_id: id })
  expect(locationOf(done).searchParams.get("eid")).toBe(id)
})
