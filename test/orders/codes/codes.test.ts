import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { atSandbox, card, crypto, freshId, freshIds, newShopper, until } from "../shopper.ts"

let one: TestService
let two: TestService
let admin: Awaited<ReturnType<typeof newShopper>>
beforeAll(async () => {
  one = await serve({}, { peersPossible: true })
  two = await serve({}, { database: one.database, peersPossible: true })
  admin = await newShopper(one, { role: "Admin" })
})

const newCode = async (facts: Record<string, unknown> = {}) => {
  const redemption_code = `SAVE-${randomUUID().slice(0, 8)}`
  const body = {
    name: "spring",
    code_type: "Discount",
    discount_as_percentage: 25,
    redemption_code,
    ...facts,
  }
  const answer = await admin.call("POST", "/codes", body)
  expect(answer.status).toBe(200)
  return { id: answer.body.id as string, text: redemption_code, body: answer.body }
}
const pending = async (count = 1, how: unknown = crypto, at = one) => {
  const buyer = await newShopper(one)
  const { body: cart } = await buyer.add(...freshIds(count))
  await buyer.checkout(how)
  const apply = (code: string) => at.call("POST", "/cart/promo_code", { token: buyer.token, body: { code } })
  return { buyer, apply, total: cart.total_in_cents as number, items: cart.order_items }
}
const uses = async (id: string) => (await one.sql`select uses from code where id = ${id}`)[0]?.["uses"]

describe("codes", () => {
  it("show their remaining uses when they are created; only users with the required scopes can create, list or delete them", async () => {
    const code = await newCode({ max_uses: 5 })
    expect(code.body).toMatchObject({
      total_uses: 0,
      available: 5,
      code_type: "Discount",
      activator: "RedemptionCode",
    })
    const list = await admin.call("GET", "/codes?limit=1&code_type=Discount")
    expect(list.body.data).toMatchObject([{ id: code.id }])
    expect(list.body.paging).toMatchObject({ limit: 1, page: 0, dir: "Desc" })
    const buyer = await newShopper(one)
    expect((await buyer.call("GET", "/codes")).body.scope).toBe("code:read")
    expect((await buyer.call("POST", "/codes", { name: "x", code_type: "Discount" })).status).toBe(403)
    expect((await buyer.call("DELETE", `/codes/${code.id}`)).status).toBe(403)
    const deleted = await admin.call("DELETE", `/codes/${code.id}`)
    expect(deleted.body.deleted_at).toBeDefined()
    expect((await admin.call("DELETE", `/codes/${randomUUID()}`)).status).toBe(404)
    expect((await (await pending()).apply(code.text)).body.fields.code[0].code).toBe("unknown")
  })

  it("are all counted in the `total` of the list, even if the requested page is after the last page", async () => {
    await newCode({})
    const { total } = (await admin.call("GET", "/codes?limit=1")).body.paging
    const past = await admin.call("GET", "/codes?limit=1&page=1000")
    expect([past.body.data, past.body.paging.total]).toEqual([[], total])
  })

  it("can be created and listed by the owner of their organization, who cannot list other codes", async () => {
    const owner = await newShopper(one)
    const [org] = await one.sql`insert into organization (name) values ('shop') returning id`
    await one.sql`insert into organization_member (organization_id, user_id, role) values (${org?.["id"]}, ${owner.id}, 'OrgOwner')`
    const body = {
      name: "house",
      code_type: "Discount",
      discount_in_cents: 5,
      redemption_code: `H${randomUUID().slice(0, 6)}`,
      organization_id: org?.["id"],
    }
    expect((await owner.call("POST", "/codes", body)).status).toBe(200)
    const list = await owner.call("GET", `/codes?organization_id=${org?.["id"]}`)
    expect(list.body.data).toHaveLength(1)
    expect((await owner.call("GET", `/codes?organization_id=${randomUUID()}`)).status).toBe(403)
    expect((await owner.call("GET", "/codes")).status).toBe(403)
  })

  it("with invalid fields are rejected, and the error names these fields", async () => {
    const { text } = await newCode()
    const bad = async (facts: Record<string, unknown>) =>
      Object.keys(
        (await admin.call("POST", "/codes", { name: "x", code_type: "Discount", ...facts })).body.fields ??
          {},
      )
    expect(await bad({ redemption_code: "ABC" })).toEqual(["discount_as_percentage"])
    expect(await bad({ discount_in_cents: 1 })).toEqual(["redemption_code"])
    expect(await bad({ redemption_code: text.toLowerCase(), discount_in_cents: 1 })).toEqual([
      "redemption_code",
    ])
    expect(
      await bad({
        redemption_code: "ABC",
        discount_in_cents: 1,
        start_date: "2030-01-02",
        end_date: "2030-01-01",
      }),
    ).toEqual(["end_date"])
    expect(
      await bad({ redemption_code: "ABC", discount_in_cents: 1, organization_id: randomUUID() }),
    ).toEqual(["organization_id"])
    expect(
      (await admin.call("POST", "/codes", { name: "x", code_type: "Discount", discount_as_percentage: 101 }))
        .status,
    ).toBe(400)
  })

  it.each([
    { length: 6 },
    { min_lenght: 6 },
    { max_score: 0 },
    { min_length: "6" },
    { min_length: 6, max_length: 5 },
    { min_score: 60, max_score: 40 },
    6,
  ])("with the invalid pattern %j are rejected", async (pattern) => {
    const refused = await admin.call("POST", "/codes", { name: "x", code_type: "RandomYat", pattern })
    expect([refused.status, Object.keys(refused.body.fields ?? {})]).toEqual([422, ["pattern"]])
  })
})

describe("the service", () => {
  it.each([{ min_score: 90 }, { min_length: 6, min_score: 75 }, { max_length: 1, max_score: 99 }])(
    "rejects a random id code whose pattern %j matches no id",
    async (pattern) => {
      const refused = await admin.call("POST", "/codes", { name: "x", code_type: "RandomYat", pattern })
      expect([refused.status, refused.body.fields?.pattern?.[0].code]).toEqual([422, "range"])
    },
  )

  it("adds a discount item for each discounted id, and reduces the amount due", async () => {
    const code = await newCode()
    const { apply, items, total } = await pending(2)
    const { body, status } = await apply(code.text.toLowerCase())
    expect(status).toBe(200)
    const discounts = body.order_items.slice(2)
    expect(discounts).toMatchObject([
      { item_type: "Discount", parent_id: items[0].id, code_id: code.id, quantity: 1 },
      { item_type: "Discount", parent_id: items[1].id, code_id: code.id },
    ])
    expect(discounts[0].unit_price_in_cents).toBe(-Math.round(items[0].unit_price_in_cents / 4))
    expect(body.total_in_cents).toBe(
      total + discounts[0].unit_price_in_cents + discounts[1].unit_price_in_cents,
    )
    expect(body.remaining_due_in_cents).toBe(body.total_in_cents)
    expect(body.payment_method_data.methods[3].amount).toBe(body.total_in_cents / 100)
    expect((await apply(code.text)).body.fields.code[0].code).toBe("already_applied")
    expect(await uses(code.id)).toBe(2)
  })

  it("limits a discount in cents to the price of the id", async () => {
    const code = await newCode({ discount_as_percentage: undefined, discount_in_cents: 1_000_000 })
    const { apply, buyer, items } = await pending()
    const { body } = await apply(code.text)
    expect(body.total_in_cents).toBe(0)
    expect(body.order_items[1].unit_price_in_cents).toBe(-items[0].unit_price_in_cents)
    expect(body).not.toHaveProperty("payment_method_data")
    const free = await buyer.checkout({ method: "Free" })
    expect(free.body).toMatchObject({ status: "Paid", total_in_cents: 0 })
    expect(free.body.user.remaining_free_emoji).toBe(1)
  })

  it("rejects a discount code for an order that is not `PendingPayment`, and rejects invalid codes", async () => {
    const buyer = await newShopper(one)
    const { text } = await newCode()
    const apply = (code: string) => buyer.call("POST", "/cart/promo_code", { code })
    expect((await apply(text)).status).toBe(409)
    await buyer.add(freshId())
    const draft = await apply(text)
    expect(draft.status).toBe(409)
    expect(draft.body.state).toBe("Draft")
    await buyer.checkout()
    expect((await apply("NO-SUCH-CODE")).body.fields.code[0].code).toBe("unknown")
    expect((await buyer.call("POST", "/cart/promo_code", {})).status).toBe(400)
    const early = await newCode({ start_date: "2090-01-01T00:00:00Z" })
    expect((await apply(early.text)).body.fields.code[0].code).toBe("not_started")
    const late = await newCode({ end_date: "2020-01-01T00:00:00Z" })
    expect((await apply(late.text)).body.fields.code[0].code).toBe("ended")
    const random = await newCode({
      code_type: "RandomYat",
      discount_as_percentage: undefined,
      activator: "RedemptionCode",
    })
    expect((await apply(random.text)).body.fields.code[0].code).toBe("wrong_type")
  })

  it("stops counting the use of a code when the order is converted to a draft or cancelled", async () => {
    const code = await newCode({ max_uses: 1 })
    const { apply, buyer } = await pending()
    await apply(code.text)
    expect((await (await pending()).apply(code.text)).body.fields.code[0].code).toBe("used_up")
    const draft = await buyer.call("POST", "/cart/convert_to_draft")
    expect(draft.body.order_items).toHaveLength(1)
    expect(await uses(code.id)).toBe(0)
    await buyer.checkout()
    await apply(code.text)
    expect(await uses(code.id)).toBe(1)
    await buyer.call("DELETE", "/cart")
    expect(await uses(code.id)).toBe(0)
  })

  it("leaves a late payment refundable if the code of the cancelled order has no uses left", async () => {
    const code = await newCode({ max_uses: 1 })
    const first = await pending()
    const { body: order } = await first.apply(code.text)
    await first.buyer.call("DELETE", "/cart")
    const second = await pending()
    await second.apply(code.text)
    await atSandbox(one, order.payment_method_data.session_id, "pay")
    const late = await until(
      () => first.buyer.order(order.id),
      ({ body }) => body.eligible_for_refund,
    )
    expect(late.body).toMatchObject({ status: "Cancelled", amount_overpaid_in_cents: order.total_in_cents })
    expect(await uses(code.id)).toBe(1)
  })

  it("applies a code to no more ids of a user than `max_emojis_per_user`", async () => {
    const code = await newCode({ max_emojis_per_user: 2 })
    const { apply } = await pending(3)
    const { body } = await apply(code.text)
    expect(body.order_items).toHaveLength(5)
    expect(await uses(code.id)).toBe(2)
  })

  it("allows exactly `max_uses` uses of a code when sixty buyers apply the code concurrently in two processes", async () => {
    const code = await newCode({ max_uses: 7 })
    const carts = await Promise.all(
      Array.from({ length: 60 }, (_, i) => pending(1, card, i % 2 === 0 ? one : two)),
    )
    const answers = await Promise.all(carts.map(({ apply }) => apply(code.text)))
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(7)
    for (const answer of answers)
      if (answer.status !== 200) expect(answer.body.fields.code[0].code).toBe("used_up")
    expect(await uses(code.id)).toBe(7)
    const [sum] = await one.sql`select sum(count)::int as n from code_use where code_id = ${code.id}`
    expect(sum?.["n"]).toBe(7)
  })

  it("grants no more free ids than the free limit when `Free` checkouts are concurrent", async () => {
    const buyer = await newShopper(one, { freeLimit: 1 })
    for (let round = 0; round < 3; round++) {
      await buyer.add(freshId())
      await Promise.all(
        [one, two, one, two].map((at) =>
          at.call("POST", "/cart/checkout", { token: buyer.token, body: { method: "Free" } }),
        ),
      )
    }
    const [row] =
      await one.sql`select free_used, (select count(*)::int from emoji_id where owner_id = ${buyer.id}) as owned
      from app_user where id = ${buyer.id}`
    expect(row).toEqual({ free_used: 1, owned: 1 })
  })
})
