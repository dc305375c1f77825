import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { atSandbox, card, crypto, freshId, freshIds, newShopper, shopper, until } from "../shopper.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

describe("a payment in the sandbox", () => {
  it("grants the ids, and creates a key, a receipt, ledger lines and events", async () => {
    const buyer = await newShopper(service)
    const ids = freshIds(2)
    await buyer.add(...ids)
    const pending = (await buyer.checkout()).body
    const page = await service.call("GET", `/sandbox/checkout/${pending.payment_method_data.session_id}`)
    expect(page.status).toBe(200)
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
    expect(page.text).toContain("Play money")
    for (const shown of ["Your order at the Emoji Id Directory", `Order no. ${pending.order_number}`, ...ids])
      expect(page.text).toContain(shown)
    const paid = await atSandbox(service, pending.payment_method_data.session_id, "pay")
    const reloaded = await atSandbox(service, pending.payment_method_data.session_id, "pay")
    for (const { headers, status } of [paid, reloaded])
      expect([status, headers.get("location")]).toEqual([303, "https://shop.example/done"])
    const { body } = await until(
      () => buyer.order(pending.id),
      (answer) => answer.body.status === "Paid",
    )
    expect(body).toMatchObject({
      status: "Paid",
      remaining_due_in_cents: 0,
      amount_overpaid_in_cents: 0,
      eligible_for_refund: true,
      allowed_actions: ["refund"],
    })
    expect(body.paid_at).toBeDefined()
    expect(body).not.toHaveProperty("expires_at")
    const owned =
      await service.sql`select canonical, owner_id, pubkey, source from emoji_id where owner_id = ${buyer.id} order by 1`
    expect(owned.map((row) => row["canonical"])).toEqual([...ids].sort())
    expect(owned[0]).toMatchObject({ source: `order:${pending.id}` })
    const [key] =
      await service.sql`select pubkey, sealed_key is not null as custodial from pubkey where user_id = ${buyer.id}`
    expect(key).toEqual({ pubkey: owned[0]?.["pubkey"], custodial: true })
    const claims =
      await service.sql`select kind, owner_id from claim where canonical = any(${ids as string[]})`
    expect(claims).toEqual([1, 2].map(() => ({ kind: "owned", owner_id: buyer.id })))
    const mails = await service.call("GET", `/dev/outbox?to=${encodeURIComponent(buyer.email)}`)
    expect(mails.body[0]).toMatchObject({ kind: "order_receipt" })
    expect(mails.body[0].text).toContain(ids[0])
    expect(await service.sql`select ledger_audit() as cents`).toEqual([{ cents: 0 }])
    const lines =
      await service.sql`select account, sum(cents)::int as cents from ledger_line l join journal j on j.id = l.journal_id
      where j.order_id = ${pending.id} group by 1 order by 1`
    expect(lines).toEqual([
      { account: "funds:sandbox", cents: body.total_in_cents },
      { account: "sales", cents: -body.total_in_cents },
    ])
    const events =
      await service.sql`select type from event where channel in (${`order:${pending.id}`}, ${`emoji_id:${ids[0]}`})`
    expect(events.map((row) => row["type"])).toEqual(
      expect.arrayContaining(["order.paid", "emoji_id.registered"]),
    )
    const methods = await until(
      () => buyer.call("GET", "/payment_methods"),
      (answer) => answer.body.length > 0,
    )
    expect(methods.body).toMatchObject([{ payment_type: "card", brand: "visa", last4: "4242" }])
    const methodPath = `/payment_methods/${methods.body[0].id}`
    expect((await buyer.call("PUT", `${methodPath}/default`)).body).toMatchObject({ is_default: true })
    expect((await (await newShopper(service)).call("DELETE", methodPath)).status).toBe(404)
    expect((await buyer.call("DELETE", methodPath)).body).toMatchObject({ last4: "4242" })
    expect((await buyer.call("DELETE", methodPath)).status).toBe(404)
    expect((await buyer.call("GET", "/payment_methods")).body).toEqual([])
    const again = await buyer.call("POST", `/cart/checkout/${pending.id}`, card)
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({ state: "Paid" })
    expect((await buyer.add(ids[0]!)).body.fields.eid[0].code).toBe("eligibility")
    const list = await buyer.call("GET", "/orders")
    expect(list.body.data).toHaveLength(1)
    expect(list.body.paging.total).toBe(1)
  })

  it("keeps its client secret after a new master key is added, although the secret is not stored", async () => {
    const keyOf = (byte: number) => `k${byte}:${Buffer.alloc(32, byte).toString("base64url")}`
    const before = await serve({ SECRET_KEYS: keyOf(1) }, { peersPossible: true })
    const buyer = await newShopper(before)
    await buyer.add(freshId())
    const { body } = await buyer.checkout()
    const secret: string = body.payment_method_data.client_secret
    expect(secret).toMatch(/_secret_[0-9a-f]{32}$/)
    const shown = await buyer.order(body.id)
    expect(shown.body.payment_method_data.client_secret).toBe(secret)
    await before.stop()
    const after = await serve({ SECRET_KEYS: `${keyOf(2)},${keyOf(1)}` }, { database: before.database })
    const again = await shopper(after, buyer).order(body.id)
    expect(again.body.payment_method_data.client_secret).toBe(secret)
    const [dump] = await after.sql`select e.state::text || i::text as text
      from entity e join sandbox_intent i on i.order_id = e.id where e.id = ${body.id}`
    expect(dump?.["text"]).not.toContain(secret.slice(-32))
    expect(dump?.["text"]).not.toContain("sealedSecret")
  })

  it("of half the price leaves the order pending, and a later overpayment is shown", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const pending = (await buyer.checkout(crypto)).body
    const session = pending.payment_method_data.session_id
    await atSandbox(service, session, "underpay")
    const half = await until(
      () => buyer.cart(),
      (answer) => answer.body.remaining_due_in_cents < pending.total_in_cents,
    )
    expect(half.body.status).toBe("PendingPayment")
    expect(half.body.remaining_due_in_cents).toBe(
      pending.total_in_cents - Math.floor(pending.total_in_cents / 2),
    )
    await atSandbox(service, session, "overpay")
    const { body } = await until(
      () => buyer.order(pending.id),
      (answer) => answer.body.status === "Paid",
    )
    expect(body.amount_overpaid_in_cents).toBe(Math.floor(pending.total_in_cents / 10))
    expect(await service.sql`select ledger_audit() as cents`).toEqual([{ cents: 0 }])
  })

  it("of half the price in cryptocurrency leaves the other half due at the same addresses", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const { body: pending } = await buyer.checkout(crypto)
    const before: ReadonlyArray<Record<string, unknown>> = pending.payment_method_data.methods
    await atSandbox(service, pending.payment_method_data.session_id, "underpay")
    const { body: half } = await until(
      () => buyer.cart(),
      (answer) => answer.body.remaining_due_in_cents < pending.total_in_cents,
    )
    const after: typeof before = half.payment_method_data.methods
    expect(after.map(({ address }) => address)).toEqual(before.map(({ address }) => address))
    expect(after.find(({ currency }) => currency === "USDC")).toMatchObject({
      amount: half.remaining_due_in_cents / 100,
    })
  })

  it("has a payment form only while an amount is due", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const { body: pending } = await buyer.checkout(crypto)
    const session = pending.payment_method_data.session_id
    const usdc = (cents: number) => `${cents / 100} USDC`
    const half = await atSandbox(service, session, "underpay")
    const due = pending.total_in_cents - Math.floor(pending.total_in_cents / 2)
    expect(half.text).toContain(usdc(due))
    expect(half.text).not.toContain(usdc(pending.total_in_cents))
    expect(half.text).toContain('value="pay"')
    for (const shown of [
      await atSandbox(service, session, "pay"),
      await service.call("GET", `/sandbox/checkout/${session}`),
    ]) {
      expect(shown.text).toContain("Nothing is due on this checkout")
      expect(shown.text).not.toContain('value="pay"')
      expect(shown.text).not.toContain("USDC")
    }
    for (const again of ["pay", "underpay"])
      expect(await atSandbox(service, session, again)).toMatchObject({
        status: 200,
        text: expect.stringContaining("No further payment was made"),
      })
    await atSandbox(service, session, "overpay")
    const { body } = await until(
      () => buyer.order(pending.id),
      (answer) => answer.body.amount_overpaid_in_cents > 0,
    )
    expect(body.amount_overpaid_in_cents).toBe(Math.floor(pending.total_in_cents / 10))
  })

  it("that is declined leaves the order pending, and the cart shows the reason", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const pending = (await buyer.checkout()).body
    const declined = await atSandbox(service, pending.payment_method_data.session_id, "decline")
    expect(declined.text).toMatch(/<p class="notice bad"[^>]* role="alert">Payment declined/)
    const { body } = await until(
      () => buyer.cart(),
      (answer) => answer.body.last_payment_error !== undefined,
    )
    expect(body).toMatchObject({ status: "PendingPayment", last_payment_error: "Your card was declined." })
    expect((await atSandbox(service, "nonsense", "pay")).status).toBe(404)
    expect((await atSandbox(service, pending.payment_method_data.session_id, "steal")).status).toBe(400)
  })

  it("is rejected after the order is cancelled, and the card is not charged", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const { body: pending } = await buyer.checkout()
    const session = pending.payment_method_data.session_id
    await buyer.call("DELETE", "/cart")
    await until(
      () => service.call("GET", `/sandbox/checkout/${session}`),
      ({ text }) => text.includes("cancelled"),
    )
    for (const action of ["pay", "underpay", "overpay"])
      expect(await atSandbox(service, session, action)).toMatchObject({
        status: 409,
        text: expect.stringContaining("This checkout was cancelled"),
      })
    const [taken] = await service.sql`
      select paid_cents::int as cents from sandbox_intent where order_id = ${pending.id}`
    expect(taken).toEqual({ cents: 0 })
  })
})
