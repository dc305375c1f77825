import { beforeAll, describe, expect, it } from "vitest"
import { type LiveClient, liveSocket } from "../fixtures/live-client.ts"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { freshId, newShopper } from "../orders/shopper.ts"
import { codeFor, grant, makeIds } from "../transfers/transfer-service.ts"

const nextId = makeIds(500)
let service: TestService

beforeAll(async () => {
  service = await serve({ CART_TTL_SECONDS: "2", SWEEP_INTERVAL_MS: "100" })
})

const listen = async (channel: string, user?: TestUser) => {
  const client = await liveSocket(service.url)()
  client.send({ type: "connect", ...(user === undefined ? {} : { token: user.token }) })
  client.send({ type: "subscribe", channel })
  const { state } = await client.take({ type: "subscribed" })
  return { client, state }
}
const happened = (client: LiveClient, event: string) => client.take({ type: "event", event })

describe("subscribers receive", () => {
  it("the cart as `GET /cart` returns it, then its change at checkout, and its expiry", async () => {
    const buyer = await newShopper(service)
    const id = freshId()
    await buyer.add(id)
    const { client, state } = await listen("cart", buyer)
    expect(state).toEqual((await buyer.cart()).body)
    const order = await listen(`order:${state.id}`, buyer)
    await buyer.checkout()
    const changed = await happened(client, "cart.changed")
    expect(changed.data).toMatchObject({ order_id: state.id, status: "PendingPayment" })
    expect(Date.parse(changed.data.expires_at)).toBeGreaterThan(Date.now() - 1000)
    await happened(client, "cart.expired")
    await happened(order.client, "cart.expired")
    client.close()
    order.client.close()
  })

  it("the events of a paid order in the channels of the order, the market and the emoji id", async () => {
    const buyer = await newShopper(service, { freeLimit: 5 })
    const id = freshId()
    const { body } = await buyer.add(id)
    const [order, market, emojiId] = await Promise.all([
      listen(`order:${body.id}`, buyer),
      listen("market"),
      listen(`emoji_id:${id}`),
    ])
    expect(emojiId.state).toMatchObject({ status: false, error: { code: "not_registered" } })
    expect((await buyer.checkout({ method: "Free" })).status).toBe(200)
    await happened(order.client, "order.paid")
    await happened(market.client, "market.purchased")
    await happened(emojiId.client, "emoji_id.registered")
    const later = await listen("market")
    expect(later.state.result.map((item: { emoji_id: string }) => item.emoji_id)).toContain(id)
    for (const { client } of [order, market, emojiId, later]) client.close()
  })

  it("no purchase event in the market channel for an id from a lootbox", async () => {
    const [buyer, admin] = [
      await newShopper(service, { freeLimit: 5 }),
      await service.user({ role: "Admin" }),
    ]
    const [bought, boxed] = [freshId(), freshId()]
    const market = await listen("market")
    const box = { status: "Used", yats: [boxed], owner_id: buyer.id }
    expect((await service.call("POST", "/lootboxes", { token: admin.token, body: box })).status).toBe(200)
    await buyer.add(bought)
    await buyer.checkout({ method: "Free" })
    expect((await happened(market.client, "market.purchased")).data).toEqual({ emoji_id: bought })
    const later = await listen("market")
    const listed = later.state.result.map((item: { emoji_id: string }) => item.emoji_id)
    expect([listed.includes(bought), listed.includes(boxed)]).toEqual([true, false])
    for (const { client } of [market, later]) client.close()
  })

  it("events when an emoji id's records change, at each step of its transfer, and when its owner changes", async () => {
    const [owner, next] = [await service.user(), await service.user()]
    const eid = nextId()
    await grant(service, owner, eid)
    const { client, state } = await listen(`emoji_id:${eid}`)
    expect(state).toMatchObject({ status: true, result: [] })
    const record = { tag: "0x5001", data: "hello" }
    const edited = await service.call("PATCH", `/emoji_id/${encodeURIComponent(eid)}`, {
      token: owner.token,
      body: { insert: [record] },
    })
    expect(edited.status).toBe(200)
    await happened(client, "emoji_id.records")
    client.send({ type: "lookup", emoji_ids: [eid] })
    expect((await client.take({ type: "records" })).results[0].result).toMatchObject([record])

    const [sent, received] = [await listen("transfers", owner), await listen("transfers", next)]
    const { body } = await service.call("POST", "/transfers", {
      token: owner.token,
      body: { eid, email: next.email, clear_on_transfer: true, force_transfer: false },
    })
    await happened(sent.client, "transfer.created")
    const transfer = await listen(`transfer:${body.id}`, next)
    expect(transfer.state).toMatchObject({ id: body.id, status: "AwaitingSender", eid })
    expect(JSON.stringify(transfer.state)).not.toMatch(/hash/i)
    const act = async (action: string, user: TestUser) =>
      service.call("POST", `/transfers/${body.id}/${action}`, {
        token: user.token,
        body: { code: await codeFor(service, user.email) },
      })
    await act("sender_accept", owner)
    await happened(transfer.client, "transfer.sender_accepted")
    const waiting = await listen("transfers", next)
    expect(waiting.state.incoming).toMatchObject([{ id: body.id }])
    expect((await act("receiver_accept", next)).status).toBe(200)
    await happened(received.client, "transfer.accepted")
    await happened(client, "emoji_id.owner")
    client.send({ type: "lookup", emoji_ids: [eid] })
    expect((await client.take({ type: "records" })).results[0]).toMatchObject({ status: true, result: [] })
    for (const each of [sent, received, transfer, waiting]) each.client.close()
    client.close()
  })

  it("the lootboxes of the user, and events when a lootbox is granted and opened", async () => {
    const [owner, admin] = [await service.user(), await service.user({ role: "Admin" })]
    const { client, state } = await listen("lootboxes", owner)
    expect(state).toEqual([])
    const { body, status } = await service.call("POST", "/lootboxes", {
      token: admin.token,
      body: { status: "Owned", owner_id: owner.id, yats: [nextId()] },
    })
    expect(status).toBe(200)
    await happened(client, "lootbox.owned")
    await service.call("POST", `/lootboxes/${body.id}/open`, { token: owner.token })
    await happened(client, "lootbox.opened")
    const after = await listen("lootboxes", owner)
    expect(after.state).toMatchObject([{ id: body.id, status: "Used" }])
    client.close()
    after.client.close()
  })

  it("an event when an id of their interest list becomes available", async () => {
    const [owner, admin, fan] = [
      await service.user(),
      await service.user({ role: "Admin" }),
      await service.user(),
    ]
    const eid = nextId()
    await grant(service, owner, eid)
    await service.call("POST", "/user_interests", { token: fan.token, body: { emoji_id: eid } })
    const { client, state } = await listen("interests", fan)
    expect(state).toMatchObject([{ emoji_id: eid }])
    const market = await listen("market")
    const removed = await service.call("DELETE", `/emoji_id/${encodeURIComponent(eid)}`, {
      token: admin.token,
    })
    expect(removed.status).toBe(200)
    await happened(market.client, "market.released")
    expect((await happened(client, "interest.available")).data).toMatchObject({ emoji_id: eid })
    client.close()
    market.client.close()
  })

  it("the sessions of the user, and the logout event as the last frame before the socket closes", async () => {
    const email = `${crypto.randomUUID()}@example.com`
    const { body } = await service.call("POST", "/users", {
      body: { email, password: "correct horse battery" },
    })
    const token: string = body.access_token
    const { client, state } = await listen("session", { id: "", email, token })
    expect(state).toMatchObject([{ status: "Verified" }])
    expect((await service.call("POST", "/logout", { token })).status).toBe(200)
    expect(await client.closing).toMatchObject({ code: 4403 })
    expect(client.frames.at(-1)).toMatchObject({ type: "event", event: "session.logged_out" })
  })
})
