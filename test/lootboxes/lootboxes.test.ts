import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { lootboxKey } from "../../schema/lootboxes/lootbox.ts"
import { Lootboxes } from "../../src/lootboxes/lootboxes.ts"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { claimOf, eventTypes, grant, makeIds, ownerOf } from "../transfers/transfer-service.ts"

const nextId = makeIds(80_000)
let service: TestService
let admin: TestUser
let user: TestUser
let stranger: TestUser

beforeAll(async () => {
  service = await serve()
  admin = await service.user({ role: "Admin" })
  user = await service.user()
  stranger = await service.user()
})

const create = (body: Record<string, unknown>, token = admin.token) =>
  service.call("POST", "/lootboxes", { token, body })
const patch = (id: string, body: Record<string, unknown>) =>
  service.call("PATCH", `/lootboxes/${id}`, { token: admin.token, body })
const show = (id: string, viewer: TestUser) =>
  service.call("GET", `/lootboxes/${id}`, { token: viewer.token })
const open = (id: string, viewer: TestUser) =>
  service.call("POST", `/lootboxes/${id}/open`, { token: viewer.token, rawBody: "null" })
const faultsOf = (answer: {
  status: number
  body: { fields?: Record<string, ReadonlyArray<{ code: string }>> }
}) => [
  answer.status,
  Object.entries(answer.body.fields ?? {}).map(([name, [issue]]) => `${name}:${issue?.code}`),
]

describe("a lootbox", () => {
  it("is created, offered, given to an owner and opened, and shows its ids to the owner only after the opening", async () => {
    const yats = [nextId(), nextId()]
    const draft = await create({ status: "Draft", yats })
    expect(draft.status).toBe(200)
    const { id } = draft.body
    expect(draft.body).toMatchObject({
      status: "Draft",
      yats,
      scores: [expect.any(Number), expect.any(Number)],
    })
    const [one, two] = draft.body.prices
    expect(draft.body.total_value).toBe(one + two)
    expect(draft.body.average_rhythm_score).toBe((draft.body.scores[0] + draft.body.scores[1]) / 2)
    expect(await claimOf(service, yats[0]!)).toMatchObject({ kind: "lootbox", holder: id })
    expect((await show(id, user)).status).toBe(404)

    expect((await patch(id, { status: "Available" })).body.status).toBe("Available")
    expect((await show(id, user)).body).toMatchObject({ status: "Available", yats: [], prices: [one, two] })

    const given = await patch(id, { status: "Owned", owner_email: user.email.toUpperCase() })
    expect(given.body).toMatchObject({ status: "Owned", owner_id: user.id, owner: { email: user.email } })
    expect((await show(id, user)).body).toMatchObject({ status: "Owned", yats: [] })
    expect((await show(id, stranger)).status).toBe(404)
    expect(await eventTypes(service, `lootboxes:${user.id}`)).toEqual(["lootbox.owned"])

    expect((await open(id, stranger)).status).toBe(404)
    expect((await open(id, admin)).status).toBe(403)
    const opened = await open(id, user)
    expect(opened.body).toMatchObject({ status: "Used", yats, opened_at: expect.any(String) })
    for (const yat of yats) {
      expect(await ownerOf(service, yat)).toBe(user.id)
      expect(await claimOf(service, yat)).toEqual({ kind: "owned", holder: user.id, owner_id: user.id })
      expect(await eventTypes(service, `emoji_id:${yat}`)).toEqual(["emoji_id.registered"])
    }
    const [row] = await service.sql`
      select e.source, k.user_id from emoji_id e join pubkey k using (pubkey) where canonical = ${yats[0]!}`
    expect(row).toEqual({ source: `lootbox:${id}`, user_id: user.id })
    expect(await eventTypes(service, `lootboxes:${user.id}`)).toEqual(["lootbox.owned", "lootbox.opened"])

    const again = await open(id, user)
    expect([again.status, again.body.state]).toEqual([409, "Used"])
    expect((await show(id, user)).body.yats).toEqual(yats)
    expect((await show(id, admin)).body.yats).toEqual(yats)
  })

  it("is opened when an administrator creates or updates it with the status `Used`", async () => {
    const fresh = nextId()
    const used = await create({ status: "Used", yats: [fresh], owner_id: user.id })
    expect(used.body).toMatchObject({ status: "Used", yats: [fresh] })
    expect(await ownerOf(service, fresh)).toBe(user.id)
    for (const status of ["Draft", "Available", "Owned"]) {
      const yat = nextId()
      const owner = status === "Owned" ? { owner_id: user.id } : {}
      const { body } = await create({ status, yats: [yat], ...owner })
      const update = await patch(body.id, {
        status: "Used",
        ...(status === "Owned" ? {} : { owner_id: user.id }),
      })
      expect(update.body).toMatchObject({ status: "Used", owner_id: user.id })
      expect(await ownerOf(service, yat)).toBe(user.id)
    }
  })

  it("cannot return to `Draft`, cannot change its owner or ids when `Owned`, and cannot be deleted when `Used`", async () => {
    const { body } = await create({ status: "Owned", yats: [nextId()], owner_id: user.id })
    for (const change of [
      { status: "Owned", owner_id: stranger.id },
      { status: "Owned", yats: [nextId()] },
    ]) {
      const answer = await patch(body.id, change)
      expect([answer.status, answer.body.state]).toEqual([409, "Owned"])
    }
    const available = await create({ status: "Available", yats: [nextId()] })
    expect((await patch(available.body.id, { status: "Draft" })).status).toBe(409)
    await open(body.id, user)
    expect((await patch(body.id, { status: "Used" })).status).toBe(409)
    expect((await service.call("DELETE", `/lootboxes/${body.id}`, { token: admin.token })).status).toBe(409)
  })

  it("that refuses an operation reports its state and the operations that this state allows", async () => {
    const { body } = await create({ status: "Available", yats: [nextId()] })
    const back = await patch(body.id, { status: "Draft" })
    expect(back.body).toMatchObject({
      error: "The lootbox is in state Available, which does not allow update.",
      state: "Available",
      allowed: ["update", "buy", "delete"],
    })
    await patch(body.id, { status: "Owned", owner_id: user.id })
    const gone = await service.call("DELETE", `/lootboxes/${body.id}`, { token: admin.token })
    expect(gone.body).toMatchObject({ state: "Owned", allowed: ["open"] })
  })

  it("releases all its ids when it is deleted, and releases a single id when that id is removed from it", async () => {
    const [kept, dropped, added] = [nextId(), nextId(), nextId()]
    for (const status of ["Draft", "Available"]) {
      const { body } = await create({ status, yats: [kept, dropped] })
      expect((await patch(body.id, { yats: [kept, added] })).body.yats).toEqual([kept, added])
      expect(await claimOf(service, dropped)).toBeUndefined()
      expect((await claimOf(service, added))?.holder).toBe(body.id)
      const gone = await service.call("DELETE", `/lootboxes/${body.id}`, { token: admin.token })
      expect([gone.status, gone.body.status]).toEqual([200, status])
      expect([await claimOf(service, kept), await claimOf(service, added)]).toEqual([undefined, undefined])
      expect((await show(body.id, admin)).status).toBe(404)
      expect((await service.call("DELETE", `/lootboxes/${body.id}`, { token: admin.token })).status).toBe(404)
      expect((await patch(body.id, { status: "Available" })).status).toBe(404)
    }
  })

  it("claims all of its ids or none, and cannot claim an id that is already claimed", async () => {
    const free = nextId()
    const owned = nextId()
    await grant(service, user, owned)
    const answers = await Promise.all([
      create({ status: "Draft", yats: [free, owned] }),
      create({ status: "Used", yats: [free, owned], owner_id: user.id }),
    ])
    for (const answer of answers) expect(faultsOf(answer)).toEqual([422, ["yats:eligibility"]])
    expect(await claimOf(service, free)).toBeUndefined()
    const box = await create({ status: "Draft", yats: [free] })
    expect(faultsOf(await create({ status: "Draft", yats: [free] }))).toEqual([422, ["yats:eligibility"]])
    expect(faultsOf(await patch(box.body.id, { yats: [free, owned] }))).toEqual([422, ["yats:eligibility"]])
  })
})

describe("a request to create or change a lootbox", () => {
  it("is rejected with an error that names the faulty field", async () => {
    const yats = [nextId()]
    expect(faultsOf(await create({ status: "Owned", yats }))).toEqual([422, ["owner_id:required"]])
    expect(faultsOf(await create({ status: "Used", yats }))).toEqual([422, ["owner_id:required"]])
    const both = { owner_id: user.id, owner_email: user.email }
    expect(faultsOf(await create({ status: "Owned", yats, ...both }))).toEqual([
      422,
      ["owner_email:exclusive"],
    ])
    expect(faultsOf(await create({ status: "Available", yats, owner_id: user.id }))).toEqual([
      422,
      ["owner_id:status"],
    ])
    expect(faultsOf(await create({ status: "Available", yats: [] }))).toEqual([422, ["yats:length"]])
    expect(faultsOf(await create({ status: "Draft", yats: [...yats, ...yats] }))).toEqual([
      422,
      ["yats:eligibility"],
    ])
    expect(faultsOf(await create({ status: "Owned", yats, owner_email: "who@example.com" }))).toEqual([
      422,
      ["owner_email:unknown"],
    ])
    const unknown = { owner_id: "00000000-0000-4000-8000-000000000000" }
    expect(faultsOf(await create({ status: "Owned", yats, ...unknown }))).toEqual([422, ["owner_id:unknown"]])
    expect((await create({ status: "Open", yats })).status).toBe(400)
    expect((await create({ status: "Draft", yats: ["abc"] })).status).toBe(400)

    const { body } = await create({ status: "Draft", yats })
    expect(faultsOf(await patch(body.id, { owner_id: user.id }))).toEqual([422, ["owner_id:status"]])
    expect(faultsOf(await patch(body.id, { status: "Owned" }))).toEqual([422, ["owner_id:required"]])
    const empty = await create({ status: "Draft", yats: [] })
    expect(faultsOf(await patch(empty.body.id, { status: "Available" }))).toEqual([422, ["yats:length"]])
    expect((await create({ status: "Draft", yats: [nextId()] }, user.token)).status).toBe(403)
    expect((await patch("00000000-0000-4000-8000-000000000000", {})).status).toBe(404)
  })
})

describe("lists of lootboxes", () => {
  it("show users only their own lootboxes and lootboxes on sale, and let only administrators filter by owner", async () => {
    const owner = await service.user()
    await create({ status: "Draft", yats: [nextId()] })
    const offered = await create({ status: "Available", yats: [nextId()] })
    const own = await create({ status: "Owned", yats: [nextId()], owner_id: owner.id })
    await create({ status: "Owned", yats: [nextId()], owner_id: stranger.id })
    const idsIn = async (path: string, viewer: TestUser) => {
      const { body } = await service.call("GET", path, { token: viewer.token })
      return { ids: body.data.map((box: { id: string }) => box.id), body }
    }
    const mine = await idsIn("/lootboxes?limit=200", owner)
    expect(mine.ids).toContain(own.body.id)
    expect(mine.ids).toContain(offered.body.id)
    const statuses = mine.body.data.map(
      (box: { status: string; owner_id?: string }) => box.owner_id ?? box.status,
    )
    expect(new Set(statuses)).toEqual(new Set([owner.id, "Available"]))
    expect((await idsIn("/lootboxes?status=Owned", owner)).ids).toEqual([own.body.id])
    const filtered = await idsIn(`/lootboxes?owner_id=${owner.id}&limit=1`, admin)
    expect([filtered.ids, filtered.body.paging.total]).toEqual([[own.body.id], 1])
    const other = await service.call("GET", `/lootboxes?owner_id=${owner.id}`, { token: user.token })
    expect([other.status, other.body.scope]).toEqual([403, "adminLootbox:read"])
    expect((await service.call("GET", "/lootboxes?status=Gone", { token: user.token })).status).toBe(400)
  })
})

describe("a lootbox on sale", () => {
  const hold = (boxId: string, orderId: string) =>
    service.sql`select put_claims(jsonb_build_array(jsonb_build_object(
      'canonical', ${lootboxKey(boxId)}::text, 'kind', 'order', 'holder', ${orderId}::text)))`
  const sell = (boxId: string, orderId: string, buyerId: string) =>
    service.runtime.runPromise(
      Effect.exit(Effect.flatMap(Lootboxes, (boxes) => boxes.sell(boxId, orderId, buyerId))),
    )
  const orderId = "11111111-1111-4111-8111-111111111111"
  const otherId = "22222222-2222-4222-8222-222222222222"

  it("can be held by only one order, cannot be changed while an order holds it, and is sold once", async () => {
    const { body } = await create({ status: "Draft", yats: [nextId()] })
    await expect(hold(body.id, orderId)).rejects.toMatchObject({ code: "EI002" })
    await patch(body.id, { status: "Available" })
    const offer = await service.runtime.runPromise(Lootboxes.use((boxes) => boxes.findOffer(body.id)))
    expect(offer).toEqual({ id: body.id, priceCents: body.total_value })
    await hold(body.id, orderId)
    await expect(hold(body.id, otherId)).rejects.toMatchObject({ code: "EI002" })
    expect((await service.call("DELETE", `/lootboxes/${body.id}`, { token: admin.token })).status).toBe(409)
    expect((await patch(body.id, { yats: [nextId()] })).status).toBe(409)
    expect((await patch(body.id, { status: "Owned", owner_id: stranger.id })).status).toBe(409)
    expect((await sell(body.id, otherId, stranger.id))._tag).toBe("Failure")

    const sales = await Promise.all(Array.from({ length: 5 }, () => sell(body.id, orderId, user.id)))
    expect(sales.map(({ _tag }) => _tag)).toEqual(Array(5).fill("Success"))
    expect((await show(body.id, user)).body).toMatchObject({ status: "Owned", owner_id: user.id })
    expect((await sell(body.id, otherId, stranger.id))._tag).toBe("Failure")
    await expect(hold(body.id, otherId)).rejects.toMatchObject({ code: "EI002" })
  })

  it("can be bought through a cart and opened by the buyer, and cannot be checked out by a second user", async () => {
    const yat = nextId()
    const { body: box } = await create({ status: "Available", yats: [yat] })
    const addTo = (buyer: TestUser) =>
      service.call("POST", "/cart", { token: buyer.token, body: { items: [{ lootbox_id: box.id }] } })
    const checkOut = (buyer: TestUser) =>
      service.call("POST", "/cart/checkout", { token: buyer.token, body: { method: "CryptoCommerce" } })
    const rival = await service.user()
    const buyer = await service.user()
    await addTo(rival)
    const cart = await addTo(buyer)
    expect(cart.body).toMatchObject({
      total_in_cents: box.total_value,
      order_items: [{ item_type: "LootBox", main_id: box.id, unit_price_in_cents: box.total_value }],
    })
    const order = await checkOut(buyer)
    expect(order.body.status).toBe("PendingPayment")
    expect((await checkOut(rival)).status).toBe(422)
    expect((await service.call("DELETE", `/lootboxes/${box.id}`, { token: admin.token })).status).toBe(409)
    const paid = await service.call("POST", `/cart/checkout/${order.body.id}`, {
      token: admin.token,
      body: { method: "Cash" },
    })
    expect(paid.body.status).toBe("Paid")
    // The deadline handler of orders delivers the lootbox. The deadline is the time of the payment.
    await expect.poll(async () => (await show(box.id, buyer)).body.status).toBe("Owned")
    expect((await show(box.id, buyer)).body).toMatchObject({ owner_id: buyer.id, yats: [] })
    expect((await open(box.id, buyer)).body.yats).toEqual([yat])
    expect(await ownerOf(service, yat)).toBe(buyer.id)
  })
})
