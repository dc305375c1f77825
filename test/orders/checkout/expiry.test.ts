import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { startWorker } from "../../fixtures/worker.ts"
import { expectInvariants } from "../oracle.ts"
import { card, crypto, freshId, freshIds, newShopper, until } from "../shopper.ts"

describe("the expiry of an unpaid order", () => {
  let service: TestService
  beforeAll(async () => {
    service = await serve({ CART_TTL_SECONDS: "1", SWEEP_INTERVAL_MS: "50" })
  })

  it("cancels the order, releases the ids, and puts the ids into a new cart", async () => {
    const buyer = await newShopper(service)
    const ids = freshIds(2)
    await buyer.add(...ids)
    const pending = (await buyer.checkout()).body
    const { body } = await until(
      () => buyer.order(pending.id),
      (answer) => answer.body.status === "Cancelled",
    )
    expect(body).toMatchObject({ status: "Cancelled", eligible_for_refund: false, allowed_actions: [] })
    expect(body).not.toHaveProperty("expires_at")
    expect(await service.sql`select 1 from claim where canonical = any(${ids as string[]})`).toHaveLength(0)
    const cart = (await buyer.cart()).body
    expect(cart.status).toBe("Draft")
    expect(cart.id).not.toBe(pending.id)
    expect(cart.order_items.map((item: { emoji_id: string }) => item.emoji_id)).toEqual(ids)
    expect((await buyer.cart()).body).toEqual(cart)
    const events =
      await service.sql`select type from event where channel = ${`cart:${buyer.id}`} order by "offset"`
    expect(events.map((row) => row["type"])).toEqual(["cart.changed", "cart.changed", "cart.expired"])
    const mails = await service.call("GET", `/dev/outbox?to=${encodeURIComponent(buyer.email)}`)
    expect(mails.body).toMatchObject([
      { kind: "order_expired", text: expect.stringContaining("They are still in your cart") },
    ])
    const removed = await buyer.call("DELETE", `/cart/cart_items/${cart.order_items[0].id}`)
    expect(removed.body).toMatchObject({ id: cart.id, order_items: [{ emoji_id: ids[1] }] })
    const again = await buyer.checkout(crypto)
    expect(again.body).toMatchObject({ id: cart.id, status: "PendingPayment" })
    const [intent] = await service.sql`select status from sandbox_intent where order_id = ${pending.id}`
    expect(intent?.["status"]).toBe("cancelled")
  })

  it("creates a new cart that only the buyer can check out by its id", async () => {
    const [buyer, stranger] = [await newShopper(service), await newShopper(service)]
    await buyer.add(freshId())
    const { body: pending } = await buyer.checkout()
    await until(
      () => buyer.order(pending.id),
      ({ body }) => body.status === "Cancelled",
    )
    const { body: cart } = await buyer.cart()
    const path = `/cart/checkout/${cart.id}`
    expect((await stranger.call("POST", path, card)).status).toBe(404)
    expect((await buyer.call("POST", path, card)).body).toMatchObject({
      id: cart.id,
      status: "PendingPayment",
    })
  })

  it("leaves the cart empty and sends a mail that mentions no cart if the order has a random id from a code", async () => {
    const [admin, buyer] = [await newShopper(service, { role: "Admin" }), await newShopper(service)]
    const code = { name: "c", code_type: "RandomYat", activator: "RedemptionCode", redemption_code: "DRAW-1" }
    await admin.call("POST", "/codes", code)
    const drawn = { nonce: "", pubkey: "", signature: "" }
    expect((await buyer.call("POST", "/codes/DRAW-1/random_yat", drawn)).status).toBe(200)
    const { body } = await until(
      () => service.call("GET", `/dev/outbox?to=${encodeURIComponent(buyer.email)}`),
      (mails) => mails.body.length > 0,
    )
    expect((await buyer.cart()).body.order_items).toEqual([])
    expect(body).toMatchObject([{ kind: "order_expired", text: expect.not.stringContaining("cart") }])
  })

  it("is announced one minute before the order expires", async () => {
    const long = await serve({ CART_TTL_SECONDS: "61", SWEEP_INTERVAL_MS: "50" })
    const buyer = await newShopper(long)
    await buyer.add(freshId())
    const pending = (await buyer.checkout(card)).body
    const found = await until(
      () => long.sql`select data from event where channel = ${`cart:${buyer.id}`} and type = 'cart.expiring'`,
      (rows) => rows.length > 0,
    )
    expect(found[0]?.["data"]).toMatchObject({ order_id: pending.id, expires_at: pending.expires_at })
    const [row] = await long.sql`select wire_time(due_at) as due from entity where id = ${pending.id}`
    expect(row?.["due"]).toBe(pending.expires_at)
    expect((await buyer.cart()).body.status).toBe("PendingPayment")
    await long.stop()
  })
})

it("a thousand unpaid orders expire and release each id once although the process is killed twice", async () => {
  const service = await serve({ SWEEP_INTERVAL_MS: "60000" }, { peersPossible: true })
  const buyer = await newShopper(service)
  await buyer.add(freshId())
  const model = (await buyer.checkout(crypto)).body
  // Copies the order a thousand times with other ids. The first 500 copies expire after a second. The other copies are
  // made due before the last process starts.
  const dueFirst = 500
  await service.sql.unsafe(`
    with copy as (
      select gen_random_uuid() as id, gen_random_uuid() as owner, n, now() + case when n <= ${dueFirst} then interval '1 second' else interval '1 hour' end as ends
        from generate_series(1, 1000) n
    ), users as (
      insert into app_user (id, email) select owner, 'expire-' || n || '@example.com' from copy
    ), orders as (
      insert into entity (kind, id, version, turn, status, state, owner_id, subject, due_at)
      select 'order', c.id, 2, gen_random_uuid(), 'PendingPayment',
             jsonb_set(jsonb_set(jsonb_set(jsonb_set(e.state, '{context,id}', to_jsonb(c.id)),
               '{context,userId}', to_jsonb(c.owner)), '{context,items,0,claim}', to_jsonb('id-' || c.n)),
               '{context,checkout,expiresAt}', to_jsonb(wire_time(c.ends)))
               #- '{context,intent}', c.owner, 'cart', c.ends
        from copy c, entity e where e.id = '${model.id}'
    )
    insert into claim (canonical, kind, holder) select 'id-' || n, 'order', id from copy`)
  const cancelled = async () =>
    (
      await service.sql`select count(*)::int as n from entity where kind = 'order' and status = 'Cancelled'`
    )[0]?.["n"] as number

  for (const enough of [100, 400]) {
    const worker = await startWorker(service.database, { SWEEP_INTERVAL_MS: "20" })
    await until(cancelled, (n) => n >= enough)
    await worker.kill()
    expect(await cancelled()).toBeLessThan(1000)
    await expectInvariants(service.sql)
  }
  await service.sql`
    update entity set due_at = now(),
           state = jsonb_set(state, '{context,checkout,expiresAt}', to_jsonb(wire_time(now())))
     where kind = 'order' and status = 'PendingPayment' and due_at > now() + interval '10 minutes'`
  const next = await serve({ SWEEP_INTERVAL_MS: "20" }, { database: service.database, peersPossible: true })
  expect(await until(cancelled, (n) => n === 1000)).toBe(1000)
  await next.stop()

  await expectInvariants(service.sql)
  expect(await service.sql`select 1 from claim where canonical like 'id-%'`).toHaveLength(0)
  const [told] = await service.sql`
    select count(*)::int as events, count(distinct channel)::int as channels from event where type = 'cart.expired' and channel like 'order:%'`
  expect(told).toEqual({ events: 1000, channels: 1000 })
  const [freed] = await service.sql`
    select count(*)::int as events, count(distinct data)::int as ids from event where channel = 'market' and type = 'market.released'`
  expect(freed).toEqual({ events: 1000, ids: 1000 })
  const versions =
    await service.sql`select distinct version from entity where kind = 'order' and status = 'Cancelled'`
  expect(versions).toEqual([{ version: 3 }])
})
