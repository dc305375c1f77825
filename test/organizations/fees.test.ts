import { describe, expect, it } from "vitest"
import { feeCents } from "../../machines/orders/money.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { atSandbox, freshId, newShopper, until } from "../orders/shopper.ts"
import { makePartner, makeWalletUser } from "../partners/partner.ts"
import { locationOf, makeVisitor } from "../sign-in/oauth/application.ts"

const service = await serveDirectory()
const admin = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token: service.admin.token, body })
const setFees = (organizationId: string, client: number, company: number) =>
  admin("PATCH", `/organizations/${organizationId}`, {
    client_fee_basis_points: client,
    company_fee_basis_points: company,
  })
interface Item {
  readonly item_type: string
  readonly unit_price_in_cents: number
  readonly client_fee_in_cents: number
  readonly company_fee_in_cents: number
}
const feesOf = (order: { order_items: ReadonlyArray<Item> }) =>
  order.order_items.map(({ client_fee_in_cents: client, company_fee_in_cents: company }) => [client, company])

let visits = 0
/** Opens the cart of a new user on the partner's page, with one id. */
const fillCart = async (path: string, freeLimit: number) => {
  const user = await makeWalletUser(service, `fees-${++visits}`)
  await service.sql`update app_user set free_limit = ${freeLimit} where id = ${user.id}`
  const visitor = makeVisitor(service)
  const home = `/partner/${path}`
  await visitor.get(`${home}?refresh_token=${user.refresh}`)
  await visitor.submit(await visitor.get(home), { action: "choose", emoji_id: freshId() })
  return { user, visitor, cart: await visitor.get(`${home}?cart`) }
}
const newestOrder = async (token: string) =>
  (await service.call("GET", "/orders", { token })).body.data[0] as {
    id: string
    status: string
    total_in_cents: number
    order_items: ReadonlyArray<Item>
  }

describe("the fees of an organization", () => {
  it("are 0 at first, and are set by the operator only", async () => {
    const { id } = await makePartner(service, "fees-rights")
    const path = `/organizations/${id}`
    const none = { client_fee_basis_points: 0, company_fee_basis_points: 0 }
    expect((await admin("GET", path)).body).toMatchObject(none)
    const owner = await newShopper(service)
    await admin("PUT", `${path}/members/${owner.id}`, { role: "OrgOwner" })
    const refused = await owner.call("PATCH", path, { client_fee_basis_points: 9000 })
    expect([refused.status, refused.body.scope]).toEqual([403, "organization:admin"])
    expect((await owner.call("GET", path)).body).toMatchObject(none)
    expect((await setFees(id, 250, 1000)).body).toMatchObject({
      client_fee_basis_points: 250,
      company_fee_basis_points: 1000,
    })
    expect((await owner.call("PATCH", path, { name: "Renamed" })).body).toMatchObject({
      name: "Renamed",
      client_fee_basis_points: 250,
    })
    const made = await admin("POST", "/organizations", { name: "New", company_fee_basis_points: 500 })
    expect(made.body).toMatchObject({ client_fee_basis_points: 0, company_fee_basis_points: 500 })
  })

  it("are refused above 100 percent, alone and together, and if they are not whole numbers", async () => {
    const { id } = await makePartner(service, "fees-limits")
    await setFees(id, 6000, 0)
    for (const fee of [10_001, -1, 2.5, "250"])
      expect((await admin("PATCH", `/organizations/${id}`, { company_fee_basis_points: fee })).status).toBe(
        400,
      )
    const tooMuch = await admin("PATCH", `/organizations/${id}`, { company_fee_basis_points: 4001 })
    expect([tooMuch.status, Object.keys(tooMuch.body.fields)]).toEqual([422, ["company_fee_basis_points"]])
    expect((await admin("PATCH", `/organizations/${id}`, { company_fee_basis_points: 4000 })).status).toBe(
      200,
    )
  })
})

describe("an order of a partner's page", () => {
  it("records the fees of its checkout for each item, and keeps them if the fees change later", async () => {
    const { id, path } = await makePartner(service, "fees-paid")
    await setFees(id, 333, 1250)
    const { cart, user, visitor } = await fillCart(path, 0)
    const draft = await service.call("GET", "/cart", { token: user.token })
    expect(feesOf(draft.body)).toEqual([[0, 0]])
    const paying = await visitor.submit(cart, { action: "card" })
    await setFees(id, 0, 5000)
    await atSandbox(service, locationOf(paying).pathname.split("/").at(-1) ?? "", "pay")
    const order = await until(
      () => newestOrder(user.token),
      ({ status }) => status === "Paid",
    )
    const price = order.order_items[0]?.unit_price_in_cents ?? 0
    expect(order.total_in_cents).toBe(price)
    expect(feesOf(order)).toEqual([[Math.floor((price * 333) / 10_000), Math.floor((price * 1250) / 10_000)]])
    expect(feesOf(order)[0]?.[0]).toBeGreaterThan(0)
  })

  it("has fees that cancel out if the id is free", async () => {
    const { id, path } = await makePartner(service, "fees-free")
    await setFees(id, 100, 2000)
    const { cart, user, visitor } = await fillCart(path, 1)
    await visitor.submit(cart, { action: "free" })
    const order = await newestOrder(user.token)
    const [item, discount] = feesOf(order)
    expect([order.status, item?.map((fee) => -fee)]).toEqual(["Paid", discount])
    expect(item?.[1]).toBeGreaterThan(0)
  })

  it("has no fees if the organization has none, and so has an order outside the partner's page", async () => {
    const { path } = await makePartner(service, "fees-none")
    const { cart, user, visitor } = await fillCart(path, 1)
    await visitor.submit(cart, { action: "free" })
    expect(feesOf(await newestOrder(user.token)).flat()).toEqual([0, 0, 0, 0])
    const buyer = await newShopper(service)
    await buyer.call("POST", "/cart", { items: [{ emoji_id: freshId() }] })
    const { body } = await buyer.call("POST", "/cart/checkout", { method: "Free" })
    expect(feesOf(body).flat()).toEqual([0, 0, 0, 0])
  })
})

it("a fee is rounded towards zero, and the fees of a price never exceed the price", () => {
  expect([199, 200, -199, -200, 0].map((cents) => feeCents(cents, 50))).toEqual([0, 1, 0, -1, 0])
  for (let cents = 0; cents < 5000; cents += 7)
    expect(feeCents(cents, 3333) + feeCents(cents, 6667)).toBeLessThanOrEqual(cents)
  expect(feeCents(2_147_483_647, 9999)).toBe(Number((2_147_483_647n * 9999n) / 10_000n))
})
