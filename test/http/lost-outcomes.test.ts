import { randomUUID } from "node:crypto"
import { afterEach, beforeAll, expect, it } from "vitest"
import { createDatabase } from "../fixtures/database.ts"
import { type DatabaseProxy, proxyTo } from "../fixtures/servers/database-proxy.ts"
import { type Answer, serve, type TestService } from "../fixtures/service.ts"
import { freshId, freshIds, newShopper, shopper } from "../orders/shopper.ts"
import { losingAnswers, repeatAfterLoss } from "./keyed-routes/keyed-request.ts"

let proxy: DatabaseProxy
let service: TestService
beforeAll(async () => {
  const database = await createDatabase()
  service = await serve({}, { database, peersPossible: true })
  proxy = await proxyTo(database)
})
afterEach(() => proxy.release())

/** A process whose connections to the database can be disturbed. The proxy finds a statement on new connections only. */
const disturbed = () => serve({}, { database: proxy.address })

const keyed = () => ({ headers: { "idempotency-key": randomUUID() } })

/** As if the requests came later: an attempt has two seconds to store its response. */
const later = () =>
  service.sql`update idempotency_key set committed_at = committed_at - interval '1 minute' where status is null`

/** Holds back the statement of a request. `meanwhile` runs before the statement passes. */
const holding = async (stall: () => void, send: () => Promise<Answer>, meanwhile: () => Promise<void>) => {
  stall()
  let early: Answer | undefined
  const answer = send().then((one) => {
    early = one
    return one
  })
  await expect.poll(() => proxy.isStalled() || early !== undefined).toBe(true)
  expect(early).toBeUndefined()
  await meanwhile()
  proxy.release()
  return answer
}

it("a request that is decided again because the result of its commit was lost does not replace its outcome", async () => {
  const other = await disturbed()
  const buyer = await newShopper(service)
  const { body: cart } = await buyer.add(...freshIds(2))
  const [kept, removed] = cart.order_items.map(({ id }: { id: string }) => id)
  const options = keyed()
  const remove = (at: TestService) =>
    shopper(at, buyer).call("DELETE", `/cart/cart_items/${removed}`, undefined, options)
  const answer = await holding(
    () => proxy.loseAnswerTo("commit_batch", { isSentAgain: false }),
    () => remove(other),
    async () => {
      expect((await buyer.call("POST", "/cart", { items: [{ emoji_id: freshId() }] })).status).toBe(200)
    },
  )
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"])
  const again = await remove(service)
  expect(again.status).toBe(200)
  expect(again.body.order_items.map(({ id }: { id: string }) => id)).toEqual([kept])
})

const creating = async () => {
  const admin = await service.user({ role: "Admin" })
  const name = `n-${randomUUID()}`
  const options = { token: admin.token, body: { name }, ...keyed() }
  return {
    create: (at: TestService) => at.call("POST", "/organizations", options),
    count: async () => (await service.sql`select 1 from organization where name = ${name}`).length,
  }
}

it("a request whose statement is sent again after another process finished it gets 503, and its retry the stored response", async () => {
  const other = await disturbed()
  const { count, create } = await creating()
  let stored: Answer | undefined
  const answer = await holding(
    () => proxy.loseAnswerTo("insert into organization", { isSentAgain: false }),
    () => create(other),
    async () => {
      await later()
      stored = await create(service)
    },
  )
  expect([stored?.status, answer.status, answer.headers.get("retry-after")]).toEqual([200, 503, "1"])
  const again = await create(other)
  expect([again.text, await count()]).toEqual([stored?.text, 1])
})

it("if two processes finish a request at the same time, both return the response that was stored first", async () => {
  const other = await disturbed()
  const { create } = await creating()
  await losingAnswers(service, () => create(service))
  let stored: Answer | undefined
  const answer = await holding(
    () => proxy.stallAt("update idempotency_key set status"),
    () => create(other),
    async () => {
      await later()
      stored = await create(service)
    },
  )
  expect([stored?.status, stored?.headers.get("idempotent-replayed")]).toEqual([200, null])
  expect([answer.text, answer.headers.get("idempotent-replayed")]).toEqual([stored?.text, "true"])
})

it.each(["2026-01-01T00:00:00+02:00", "2026-99-99T99:99:99+00:00"])(
  "a retry returns the name %s of an API key as it was sent",
  async (name) => {
    const { token } = await service.user()
    const answer = await repeatAfterLoss(service, {
      method: "POST",
      path: "/api_keys",
      options: { token, body: { name } },
    })
    expect(answer.body.name).toBe(name)
  },
)

it("a checkout that has lost its key does not hold the user's next cart", async () => {
  const other = await disturbed()
  const admin = await newShopper(service, { role: "Admin" })
  const buyer = shopper(service, admin)
  const addBox = async () => {
    const { body: box } = await admin.call("POST", "/lootboxes", { status: "Available", yats: [freshId()] })
    return buyer.call("POST", "/cart", { items: [{ lootbox_id: box.id }] })
  }
  await addBox()
  const options = keyed()
  const pay = (at: TestService) =>
    shopper(at, buyer).call("POST", "/cart/checkout", { method: "Cash" }, options)
  let paid: Answer | undefined
  const answer = await holding(
    () => proxy.stallAt("commit_batch"),
    () => pay(other),
    async () => {
      await service.sql`update idempotency_key set leased_until = now() where status is null`
      paid = await pay(service)
      expect((await addBox()).body.order_items).toHaveLength(1)
    },
  )
  expect(paid?.body.status).toBe("Paid")
  expect((await buyer.cart()).body.status).toBe("Draft")
  expect(answer.text).toBe(paid?.text)
})
