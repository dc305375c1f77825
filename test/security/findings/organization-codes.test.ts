import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto"
import { blake2b } from "@noble/hashes/blake2.js"
import { beforeAll, describe, expect, it } from "vitest"
import { type DirectoryService, serveDirectory } from "../../directory/directory-service.ts"
import type { Answer, TestUser } from "../../fixtures/service.ts"
import { atSandbox, freshId, newShopper, until } from "../../orders/shopper.ts"
import { makePartner, makeWalletUser } from "../../partners/partner.ts"
import { makeVisitor } from "../../sign-in/oauth/application.ts"

/** An organization must not be able to create free ids without a limit: its codes have an origin and a budget. */

let service: DirectoryService
let other: DirectoryService
let partner: Awaited<ReturnType<typeof makePartner>>
let owner: TestUser

beforeAll(async () => {
  service = await serveDirectory({ SWEEP_INTERVAL_MS: "60000" }, { peersPossible: true })
  other = await serveDirectory(
    { SWEEP_INTERVAL_MS: "60000" },
    { database: service.database, peersPossible: true },
  )
  partner = await makePartner(service)
  owner = await memberOf(partner.id, "OrgOwner")
})

const call = (method: string, path: string, token: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) })
const memberOf = async (organizationId: string, role: string) => {
  const user = await service.user()
  const path = `/organizations/${organizationId}/members/${user.id}`
  expect((await call("PUT", path, service.admin.token, { role })).status).toBe(200)
  return user
}
const budgetPath = (id = partner.id) => `/organizations/${id}/code_budget`
const grant = (cents: number, id = partner.id) =>
  call("PUT", budgetPath(id), service.admin.token, { budget_in_cents: cents })
const used = async (id = partner.id) =>
  (await call("GET", budgetPath(id), service.admin.token)).body.used_in_cents as number
/** Sets the budget to the amount that is used plus `cents`. Returns how much was used. */
const leave = async (cents: number) => {
  const before = await used()
  expect((await grant(before + cents)).body.remaining_in_cents).toBe(cents)
  return before
}
const newCode = async (facts: Record<string, unknown> = {}, token = owner.token) => {
  const redemption_code = `ORG-${randomUUID().slice(0, 8)}`
  const body = { name: "ours", code_type: "Discount", discount_as_percentage: 100, redemption_code }
  const made = await call("POST", "/codes", token, { ...body, organization_id: partner.id, ...facts })
  expect(made.status).toBe(200)
  return redemption_code
}
let devices = 0
/** A user whose order with one id was checked out on the pages of a partner (flow 1), and is pending payment. */
const inFlow = async (path = partner.path) => {
  const user = await makeWalletUser(service, `security-${++devices}`)
  const visitor = makeVisitor(service)
  await service.sql`update app_user set free_limit = 0 where id = ${user.id}`
  await visitor.get(`/partner/${path}?${new URLSearchParams({ refresh_token: user.refresh })}`)
  const start = await visitor.get(`/partner/${path}`)
  expect((await visitor.submit(start, { action: "choose", emoji_id: freshId() })).status).toBe(303)
  const cart = await visitor.get(`/partner/${path}?cart`)
  expect((await visitor.submit(cart, { action: "card" })).status).toBe(303)
  const { body: order } = await call("GET", "/cart", user.token)
  expect(order.status).toBe("PendingPayment")
  return { ...user, visitor, order }
}
const apply = (user: { readonly token: string }, code: string, at = service) =>
  at.call("POST", "/cart/promo_code", { token: user.token, body: { code } })
const faultOf = ({ body, status }: Answer) => [status, body?.fields?.code?.[0]?.code]
const ineligible = [422, "eligibility"]

describe("a discount code of an organization", () => {
  it("does not apply to an order that was checked out outside the organization's partner pages", async () => {
    await leave(1_000_000)
    const code = await newCode()
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const { body: order } = await buyer.checkout()
    const refused = await apply(buyer, code)
    expect(faultOf(refused)).toEqual(ineligible)
    expect((await buyer.cart()).body.total_in_cents).toBe(order.total_in_cents)
  })

  it("does not apply to an order of another partner's pages", async () => {
    await leave(1_000_000)
    const rival = await makePartner(service, "rival")
    const user = await inFlow(rival.path)
    expect(faultOf(await apply(user, await newCode()))).toEqual(ineligible)
  })

  it("applies on the organization's partner pages, and charges the discount to the budget", async () => {
    const user = await inFlow()
    const price = user.order.total_in_cents
    const before = await leave(price)
    const cart = await user.visitor.get(`/partner/${partner.path}?cart`)
    const applied = await user.visitor.submit(cart, { action: "promo", promo_code: await newCode() })
    expect(applied.status).toBe(303)
    expect((await call("GET", "/cart", user.token)).body.total_in_cents).toBe(0)
    expect(await used()).toBe(before + price)
    const settled = await user.visitor.get(`/partner/${partner.path}?cart`)
    await user.visitor.submit(settled, { action: "free" })
    expect((await call("GET", `/orders/${user.order.id}`, user.token)).body.status).toBe("Paid")
    expect(await used()).toBe(before + price)
    const next = await inFlow()
    const page = await next.visitor.get(`/partner/${partner.path}?cart`)
    const refused = await next.visitor.submit(page, { action: "promo", promo_code: await newCode() })
    expect([refused.status, refused.text.includes("has no budget left")]).toEqual([422, true])
  })

  it("gives no discount while the operator has granted no budget", async () => {
    const poor = await makePartner(service, "poor")
    const code = await newCode({ organization_id: poor.id, discount_as_percentage: 1 }, service.admin.token)
    const user = await inFlow(poor.path)
    expect(faultOf(await apply(user, code))).toEqual(ineligible)
    const [row] = await service.sql`select uses from code where redemption_code = ${code}`
    expect(row).toEqual({ uses: 0 })
    await grant(1_000_000, poor.id)
    expect((await apply(user, code)).status).toBe(200)
  })

  it("gets its charge back when the order is converted to a draft or cancelled", async () => {
    const code = await newCode()
    const user = await inFlow()
    const before = await leave(user.order.total_in_cents)
    await apply(user, code)
    expect(await used()).toBe(before + user.order.total_in_cents)
    await call("POST", "/cart/convert_to_draft", user.token)
    expect(await used()).toBe(before)
    const again = await inFlow()
    await leave(again.order.total_in_cents)
    await apply(again, code)
    expect(await used()).toBe(before + again.order.total_in_cents)
    await call("DELETE", "/cart", again.token)
    expect(await used()).toBe(before)
  })

  it("charges the budget again if the cancelled order is paid late, or leaves the payment refundable", async () => {
    const code = await newCode({ discount_as_percentage: 50 })
    const late = async () => {
      const user = await inFlow()
      const { body: order } = await apply(user, code)
      const discount = -order.order_items[1].unit_price_in_cents
      await call("DELETE", "/cart", user.token)
      return { user, order, discount }
    }
    const before = await leave(1_000_000)
    const [paid, refused] = [await late(), await late()]
    await leave(paid.discount)
    const pay = async ({ order, user }: typeof paid) => {
      // A crypto payment can arrive after the order was cancelled.
      await service.sql`update sandbox_intent set status = 'open' where order_id = ${order.id}`
      await atSandbox(service, order.payment_method_data.session_id, "pay")
      const { body } = await until(
        () => call("GET", `/orders/${order.id}`, user.token),
        (answer) => answer.body.status === "Paid" || answer.body.eligible_for_refund,
      )
      return [body.status, body.amount_overpaid_in_cents]
    }
    expect(await pay(paid)).toEqual(["Paid", 0])
    expect(await used()).toBe(before + paid.discount)
    expect(await pay(refused)).toEqual(["Cancelled", refused.order.total_in_cents])
    expect(await used()).toBe(before + paid.discount)
  })

  it("never exceeds the budget when twenty-four orders in two processes use it at the same time", async () => {
    const code = await newCode({ discount_as_percentage: undefined, discount_in_cents: 100 })
    const users = await Promise.all(Array.from({ length: 24 }, () => inFlow()))
    const before = await leave(799)
    const answers = await Promise.all(
      users.map((user, i) => apply(user, code, i % 2 === 0 ? service : other)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
    for (const answer of answers) if (answer.status !== 200) expect(faultOf(answer)).toEqual(ineligible)
    expect(await used()).toBe(before + 700)
    // Four of the orders that got the discount give it back while others take it.
    const winners = users.filter((_, i) => answers[i]?.status === 200)
    const losers = users.filter((_, i) => answers[i]?.status !== 200)
    const [won] = await Promise.all([
      Promise.all(losers.map((user, i) => apply(user, code, i % 2 === 0 ? other : service))),
      Promise.all(winners.slice(0, 4).map((user) => call("DELETE", "/cart", user.token))),
    ])
    const holders = 3 + won.filter(({ status }) => status === 200).length
    expect(await used()).toBe(before + 100 * holders)
    const [sum] =
      await service.sql`select sum(u.cents)::int as cents from code_use u join code c on c.id = u.code_id
                                     where c.redemption_code = ${code}`
    expect(sum).toEqual({ cents: 100 * holders })
  })
})

describe("a random id code of an organization", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const pubkey = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex")
  const activate = async (codeId: string) => {
    const user = await service.user()
    const alternateId = createHash("sha1").update(user.id).digest("hex")
    await service.sql`update app_user set alternate_id = ${alternateId} where id = ${user.id}`
    const message = blake2b(Buffer.from(`${alternateId}n`), { dkLen: 32 })
    const signature = sign(null, message, privateKey).toString("hex")
    const answer = await call("POST", `/codes/${codeId}/random_yat`, user.token, {
      nonce: "n",
      pubkey,
      signature,
    })
    return { answer, user }
  }

  it("needs a signature by one of its keys and a budget for the price of the id", async () => {
    const body = { name: "gift", code_type: "RandomYat", organization_id: partner.id }
    const made = await call("POST", "/codes", owner.token, body)
    await call("POST", `/codes/${made.body.id}/pubkeys/${pubkey}?kind=ed25519`, owner.token)
    await grant(0)
    expect(faultOf((await activate(made.body.id)).answer)).toEqual(ineligible)
    const before = await leave(1_000_000)
    const { answer, user } = await activate(made.body.id)
    expect(answer.body).toMatchObject({ total_in_cents: 0, organization_id: partner.id })
    expect(await used()).toBe(before + answer.body.order_items[0].unit_price_in_cents)
    await call("DELETE", "/cart", user.token)
    expect(await used()).toBe(before)
  })

  it("cannot be created without a key, and one that exists gives nothing", async () => {
    const text = `FREE-${randomUUID().slice(0, 8)}`
    const body = { name: "gift", code_type: "RandomYat", activator: "RedemptionCode", redemption_code: text }
    const refused = await call("POST", "/codes", owner.token, { ...body, organization_id: partner.id })
    expect([refused.status, Object.keys(refused.body.fields)]).toEqual([422, ["activator"]])
    await leave(1_000_000)
    await service.sql`insert into code (name, code_type, activator, redemption_code, organization_id)
                      values ('old', 'RandomYat', 'RedemptionCode', ${text}, ${partner.id})`
    expect(faultOf((await activate(text)).answer)).toEqual(ineligible)
  })
})

describe("the codes of an organization", () => {
  it("are managed with the scope organizationCode:admin in the organization, which owners and controllers have", async () => {
    const [controller, member] = [
      await memberOf(partner.id, "OrgController"),
      await memberOf(partner.id, "OrgMember"),
    ]
    const rival = await memberOf((await makePartner(service, "stranger")).id, "OrgOwner")
    const code = { name: "x", code_type: "RandomYat", organization_id: partner.id }
    const signer = "ab".repeat(32)
    for (const user of [owner, controller]) {
      const made = await call("POST", "/codes", user.token, code)
      expect(made.status).toBe(200)
      const path = `/codes/${made.body.id}`
      const list = await call("GET", `/codes?organization_id=${partner.id}&limit=100`, user.token)
      expect(list.body.data.map(({ id }: { id: string }) => id)).toContain(made.body.id)
      const key = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" })
      const listed = key.subarray(-32).toString("hex")
      expect((await call("POST", `${path}/pubkeys/${listed}?kind=ed25519`, user.token)).status).toBe(200)
      expect((await call("DELETE", `${path}/pubkeys/${listed}`, user.token)).status).toBe(200)
      expect((await call("DELETE", path, user.token)).status).toBe(200)
    }
    const { body } = await call("POST", "/codes", owner.token, code)
    for (const user of [member, rival]) {
      const answers = [
        await call("POST", "/codes", user.token, code),
        await call("GET", `/codes?organization_id=${partner.id}`, user.token),
        await call("POST", `/codes/${body.id}/pubkeys/${signer}`, user.token),
        await call("DELETE", `/codes/${body.id}`, user.token),
      ]
      for (const answer of answers)
        expect([answer.status, answer.body.scope]).toEqual([403, "organizationCode:admin"])
    }
  })

  it("are managed with an API key only if the key has organizationCode:admin", async () => {
    const create = async (scopes: ReadonlyArray<string>) => {
      const { body } = await call("POST", "/api_keys", owner.token, { name: "codes", scopes })
      const code = { name: "x", code_type: "RandomYat", organization_id: partner.id }
      return (await service.call("POST", "/codes", { headers: { "x-api-key": body.api_key }, body: code }))
        .status
    }
    expect([await create(["organizationCode:admin"]), await create(["organization:admin"])]).toEqual([
      200, 403,
    ])
  })
})

describe("the budget of an organization", () => {
  it("is set only by the operator, and shown to the members who manage the codes", async () => {
    const { id } = await makePartner(service, "budgeted")
    const members = [
      await memberOf(id, "OrgOwner"),
      await memberOf(id, "OrgController"),
      await memberOf(id, "OrgMember"),
    ]
    const may = async (method: string, body?: unknown) =>
      Promise.all(members.map(async ({ token }) => (await call(method, budgetPath(id), token, body)).status))
    expect(await may("GET")).toEqual([200, 200, 403])
    expect(await may("PUT", { budget_in_cents: 100 })).toEqual([403, 403, 403])
    expect((await call("GET", budgetPath(id), service.admin.token)).body).toEqual({
      organization_id: id,
      budget_in_cents: 0,
      used_in_cents: 0,
      remaining_in_cents: 0,
    })
    expect((await grant(2500, id)).body).toMatchObject({ budget_in_cents: 2500, remaining_in_cents: 2500 })
  })

  it.each([-1, 1.5, "100", null, 100_000_000_001])("cannot be %j cents", async (budget_in_cents) => {
    const before = (await call("GET", budgetPath(), owner.token)).body
    const answer = await call("PUT", budgetPath(), service.admin.token, { budget_in_cents })
    expect(answer.status).toBe(400)
    expect((await call("GET", budgetPath(), owner.token)).body).toEqual(before)
  })

  it("of an organization that does not exist is not found", async () => {
    expect((await grant(1, randomUUID())).status).toBe(404)
    expect((await call("GET", budgetPath(randomUUID()), service.admin.token)).status).toBe(404)
  })

  it("can be lowered below what is used, and then covers no further discount", async () => {
    const user = await inFlow()
    const before = await leave(user.order.total_in_cents)
    await apply(user, await newCode())
    const lowered = await grant(0)
    expect(lowered.body).toMatchObject({
      used_in_cents: before + user.order.total_in_cents,
      remaining_in_cents: 0,
    })
    expect(faultOf(await apply(await inFlow(), await newCode()))).toEqual(ineligible)
    await call("DELETE", "/cart", user.token)
    expect(await used()).toBe(before)
  })
})
