import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { card, freshId, newShopper } from "../orders/shopper.ts"

let one: TestService
let two: TestService
beforeAll(async () => {
  one = await serve({}, { peersPossible: true })
  two = await serve({}, { database: one.database, peersPossible: true })
})

const withKey = (key: string) => ({ headers: { "idempotency-key": key } })

describe("an Idempotency-Key", () => {
  it("that is repeated in any process gets the stored response, and the request does not run again", async () => {
    const buyer = await newShopper(one)
    const key = randomUUID()
    const body = { items: [{ emoji_id: freshId() }] }
    const first = await buyer.call("POST", "/cart", body, withKey(key))
    expect(first.status).toBe(200)
    expect(first.headers.get("idempotent-replayed")).toBeNull()
    for (const at of [one, two]) {
      const again = await at.call("POST", "/cart", { token: buyer.token, body, ...withKey(key) })
      expect(again.status).toBe(200)
      expect(again.text).toBe(first.text)
      expect(again.headers.get("idempotent-replayed")).toBe("true")
      expect(again.headers.get("content-type")).toBe("application/json")
    }
    const anew = await buyer.call("POST", "/cart", body, withKey(randomUUID()))
    expect(anew.status).toBe(422)
  })

  it("replays even the longest response of the API", async () => {
    const { token } = await one.user({ role: "Admin" })
    const rule = { min_score: 1, max_score: 100 }
    const config = {
      ...{ size: 1, min_length: 6, max_length: 6, min_base_score: 1, max_base_score: 100 },
      ...{ guarantees: [{ count: 1, ...rule }], weights: Array(50).fill({ ipr: 50, ...rule }) },
    }
    const type = { name: "Gifts", description: "🎁".repeat(2000), config }
    const made = await one.call("POST", "/lootbox_type", { token, body: type })
    const body = { loot_box_type_id: made.body.id, num_boxes: 100 }
    const generate = (at: TestService) =>
      at.call("POST", "/lootbox_type/generate", { token, body, ...withKey("boxes") })
    const first = await generate(one)
    expect(first.body.loot_boxes).toHaveLength(100)
    expect((await generate(two)).text === first.text).toBe(true)
  })

  it("also replays an error response", async () => {
    const buyer = await newShopper(one)
    const key = randomUUID()
    const first = await buyer.call("POST", "/cart/checkout", card, withKey(key))
    expect(first.status).toBe(422)
    await buyer.add(freshId())
    const again = await buyer.call("POST", "/cart/checkout", card, withKey(key))
    expect(again.status).toBe(422)
    expect(again.text).toBe(first.text)
  })

  it("gets 422 if it is reused with another body or another operation", async () => {
    const buyer = await newShopper(one)
    const key = randomUUID()
    await buyer.call("POST", "/cart", { items: [{ emoji_id: freshId() }] }, withKey(key))
    const body = await buyer.call("POST", "/cart", { items: [{ emoji_id: freshId() }] }, withKey(key))
    expect(body.status).toBe(422)
    expect(body.body.fields["Idempotency-Key"][0].code).toBe("reused")
    expect((await buyer.call("DELETE", "/cart", undefined, withKey(key))).status).toBe(422)
    expect((await buyer.cart()).body.order_items).toHaveLength(1)
  })

  it("with invalid characters gets 400, and the request does not run", async () => {
    const buyer = await newShopper(one)
    for (const key of ["é", "ÿ÷þ", "a b"]) {
      const refused = await buyer.call("POST", "/cart", { items: [{ emoji_id: freshId() }] }, withKey(key))
      expect([key, refused.status, refused.body.error]).toEqual([
        key,
        400,
        expect.stringContaining("Idempotency-Key"),
      ])
    }
    expect((await buyer.cart()).body.order_items).toEqual([])
  })

  it("belongs to one caller: another caller may use the same key", async () => {
    const key = randomUUID()
    const body = { items: [{ emoji_id: freshId() }] }
    const buyers = [await newShopper(one), await newShopper(one)]
    const answers = await Promise.all(buyers.map((buyer) => buyer.call("POST", "/cart", body, withKey(key))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[0]?.body.user_id).not.toBe(answers[1]?.body.user_id)
  })

  it("that is sent five times simultaneously runs one request; the others get the same response or 409", async () => {
    const buyer = await newShopper(one)
    await buyer.add(freshId())
    const key = randomUUID()
    const answers = await Promise.all(
      [one, two, one, two, one].map((at) =>
        at.call("POST", "/cart/checkout", { token: buyer.token, body: card, ...withKey(key) }),
      ),
    )
    const done = answers.filter(({ status }) => status === 200)
    expect(done.length).toBeGreaterThan(0)
    expect(new Set(done.map(({ text }) => text)).size).toBe(1)
    for (const answer of answers) {
      expect([200, 409]).toContain(answer.status)
      if (answer.status === 409) expect(answer.headers.get("retry-after")).toBe("1")
    }
    const [row] = await one.sql`select version from entity where owner_id = ${buyer.id} and kind = 'order'`
    // The version is the number of turns. The first turn added the id, and the second turn was the checkout.
    expect(row?.["version"]).toBe(2)
  })

  it("whose first attempt ended before its commit gets 409 until its lease expires; then the request runs again", async () => {
    const buyer = await newShopper(one)
    const key = randomUUID()
    const body = { items: [{ emoji_id: freshId() }] }
    await buyer.call("POST", "/cart", body, withKey(key))
    await one.sql`update idempotency_key set status = null, answer = null, committed_at = null,
                                             leased_until = now() + interval '1 minute' where key = ${key}`
    expect((await buyer.call("POST", "/cart", body, withKey(key))).status).toBe(409)
    await one.sql`update idempotency_key set leased_until = now() - interval '1 second' where key = ${key}`
    expect((await buyer.call("POST", "/cart", body, withKey(key))).status).toBe(422)
  })

  it("does not exempt replayed responses from the rate limits", async () => {
    const limited = await serve({ RATE_LIMIT: "on" })
    const { token } = await limited.user()
    const statuses = []
    for (let i = 0; i < 61; i++) {
      const options = { token, body: { code: "GUESS" }, ...withKey("the-same") }
      statuses.push((await limited.call("POST", "/cart/promo_code", options)).status)
    }
    expect(new Set(statuses.slice(0, 60)).size).toBe(1)
    expect(statuses.at(-1)).toBe(429)
  })

  it("is not stored by the webhook routes, which have neither authentication nor a rate limit", async () => {
    const key = randomUUID()
    for (const provider of ["sandbox", "stripe"]) {
      const forged = await one.call("POST", `/webhooks/${provider}`, { body: {}, ...withKey(key) })
      expect(forged.status).toBeGreaterThanOrEqual(400)
    }
    expect(await one.sql`select 1 from idempotency_key where key = ${key}`).toEqual([])
  })

  it("expires after one day and can then be used for another request", async () => {
    const buyer = await newShopper(one)
    const key = randomUUID()
    await buyer.call("POST", "/cart", { items: [{ emoji_id: freshId() }] }, withKey(key))
    await one.sql`update idempotency_key set created_at = now() - interval '25 hours' where key = ${key}`
    const anew = await buyer.call("POST", "/cart", { items: [{ emoji_id: freshId() }] }, withKey(key))
    expect(anew.status).toBe(200)
    expect(anew.headers.get("idempotent-replayed")).toBeNull()
  })

  it("works without a login, and its stored response is encrypted", async () => {
    const key = randomUUID()
    const email = `new-${randomUUID()}@example.com`
    const body = { email, password: "correct horse battery" }
    const register = () => one.call("POST", "/users", { body, ...withKey(key) })
    const first = await register()
    expect(first.status).toBe(200)
    const again = await register()
    expect(again.text).toBe(first.text)
    expect(again.headers.get("idempotent-replayed")).toBe("true")
    const [row] = await one.sql`select answer from idempotency_key where key = ${key}`
    expect(row?.["answer"]).toMatch(/^v1\./)
    expect(row?.["answer"]).not.toContain(first.body.access_token)
  })

  it("gets 409 and runs nothing if the secret key that encrypted the stored response was removed", async () => {
    const before = await serve()
    const key = randomUUID()
    const body = { items: [{ emoji_id: freshId() }] }
    const buyer = await newShopper(before)
    const made = await buyer.call("POST", "/api_keys", { name: "shop", scopes: ["cart:update"] })
    const add = (at: TestService) =>
      at.call("POST", "/cart", {
        body,
        headers: { "x-api-key": made.body.api_key, ...withKey(key).headers },
      })
    expect((await add(before)).status).toBe(200)
    const SECRET_KEYS = `new:${Buffer.alloc(32, 8).toString("base64url")}`
    const after = await serve({ SECRET_KEYS }, { database: before.database })
    const again = await add(after)
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({ code: "conflict", answered_status: 200 })
    expect((await buyer.cart()).body.order_items).toHaveLength(1)
  })

  it("that is too long or contains a space gets 400 for a write; a read ignores an invalid key", async () => {
    const buyer = await newShopper(one)
    const body = { items: [{ emoji_id: freshId() }] }
    expect((await buyer.call("POST", "/cart", body, withKey("x".repeat(256)))).status).toBe(400)
    expect((await buyer.call("POST", "/cart", body, withKey("a b"))).status).toBe(400)
    expect((await buyer.call("GET", "/cart", undefined, withKey("a b"))).status).toBe(200)
  })

  it("can be used again after a 401 response", async () => {
    const buyer = await newShopper(one)
    const key = randomUUID()
    const body = { items: [{ emoji_id: freshId() }] }
    const denied = await one.call("POST", "/cart", { token: "bad", body, ...withKey(key) })
    expect(denied.status).toBe(401)
    expect((await buyer.call("POST", "/cart", body, withKey(key))).status).toBe(200)
  })

  it("can be used again after a 403 response", async () => {
    const [admin, owner] = [await one.user({ role: "Admin" }), await one.user()]
    const made = await one.call("POST", "/organizations", { token: admin.token, body: { name: "Acme" } })
    const path = `/organizations/${made.body.id}`
    const key = randomUUID()
    const rename = () =>
      one.call("PATCH", path, { token: owner.token, body: { name: "Ajax" }, ...withKey(key) })
    expect((await rename()).status).toBe(403)
    await one.call("PUT", `${path}/members/${owner.id}`, { token: admin.token, body: { role: "OrgOwner" } })
    expect((await rename()).status).toBe(200)
  })
})
