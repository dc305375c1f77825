import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { login, password, register } from "../accounts/person.ts"
import { expectAnswer } from "../fixtures/contract.ts"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { card, freshId } from "../orders/shopper.ts"
import { libraries, send } from "./send.ts"

let service: TestService
let admin: TestUser
beforeAll(async () => {
  service = await serve()
  admin = await service.user({ role: "Admin" })
})

/** Sends requests like the JavaScript client: a Content-Type only with a body, and no body on DELETE. */
const shopOf = (user: { readonly token: string }) => {
  const headers = { ...libraries.superagent, Authorization: `Bearer ${user.token}` }
  const json = { ...headers, "Content-Type": "application/json" }
  return {
    get: (path: string) => send(service, "GET", path, headers),
    clear: () => send(service, "DELETE", "/cart", headers),
    post: (path: string, body: object) => send(service, "POST", path, json, body),
    patch: (path: string, body: object) => send(service, "PATCH", path, json, body),
  }
}

const newPromoCode = async () => {
  const redemption_code = `FREE-${randomUUID().slice(0, 8)}`
  const body = { name: "free", code_type: "Discount", redemption_code, discount_as_percentage: 100 }
  expect((await service.call("POST", "/codes", { token: admin.token, body })).status).toBe(200)
  return redemption_code
}

describe("a shop that sells an id to a user with a promo code", () => {
  it("searches, fills the cart, checks out, applies the code and checks out for free", async () => {
    const shop = shopOf(await service.user())
    const redemptionCode = await newPromoCode()
    const id = freshId()
    expect((await shop.clear()).status).toBe(200)
    // An older client also sends the code here. The service does not need it, and answers as without it.
    const query = new URLSearchParams({ emoji_id: id, redemption_code: redemptionCode })
    const found = await shop.get(`/emoji_id/search?${query}`)
    expect(found.status).toBe(200)
    expect(found.body.result).toMatchObject({ emoji_id: id, available: true, availability: "Available" })

    const cart = await shop.post("/cart", { items: [{ emoji_id: id }] })
    expect(cart.body.order_items).toMatchObject([
      { emoji_id: id, unit_price_in_cents: found.body.result.price },
    ])
    const pending = await shop.post("/cart/checkout", card)
    expect(pending.body.status).toBe("PendingPayment")
    expect(pending.body.payment_method_data.payment_intent_id).toEqual(expect.any(String))
    const promo = await shop.post("/cart/promo_code", { code: redemptionCode })
    expect([promo.status, promo.body.total_in_cents]).toEqual([200, 0])
    expectAnswer("POST", "/cart/promo_code", promo.body)
    const paid = await shop.post("/cart/checkout", { method: "Free" })
    expect([paid.status, paid.body.status]).toEqual([200, "Paid"])

    expect((await shop.get("/emoji_id")).body).toEqual([id])
    const path = `/emoji_id/${encodeURIComponent(id)}`
    const link = { tag: "0x4001", data: "http://shop.example/page" }
    expect((await shop.patch(path, { insert: [link] })).status).toBe(200)
    const { body } = await send(service, "GET", path, libraries.superagent)
    expect(body.result).toEqual([{ ...link, hash: expect.any(String) }])
  })

  it("reads the reason for a refused code from `error` and `fields`", async () => {
    const shop = shopOf(await service.user())
    await shop.post("/cart", { items: [{ emoji_id: freshId() }] })
    await shop.post("/cart/checkout", card)
    const answer = await shop.post("/cart/promo_code", { code: "NO-SUCH-CODE" })
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ error: expect.any(String), fields: expect.any(Object) })
  })
})

describe("a shop that offers random ids", () => {
  it("reads emoji_id and price of the suggestions and puts two of them into a cart", async () => {
    const shop = shopOf(await service.user())
    const { body } = await shop.get("/emoji_id/random")
    expect(body.result.length).toBeGreaterThan(3)
    for (const { emoji_id, price } of body.result)
      expect([typeof emoji_id, Number.isInteger(price)]).toEqual(["string", true])
    const items = body.result.slice(2, 4).map(({ emoji_id }: { emoji_id: string }) => ({ emoji_id }))
    const cart = await shop.post("/cart", { items })
    expect(cart.body.order_items).toMatchObject(items)
    const pending = await shop.post("/cart/checkout", card)
    expect(pending.body).toMatchObject({ status: "PendingPayment" })
    expect(pending.body.seconds_until_expiry).toBeGreaterThan(0)
  })
})

describe("a shop that logs its user in", () => {
  it("continues if the email is already registered", async () => {
    const { email } = await register(service)
    const headers = { ...libraries.superagent, "Content-Type": "application/json" }
    const details = { first_name: "Test", last_name: "Person", email, password }
    const again = await send(service, "POST", "/users", headers, details)
    expect([again.status, again.body.fields.email[0].code]).toEqual([422, "uniqueness"])
    expect((await login(service, email)).status).toBe(200)
  })

  it("shows the text in `error` after a wrong password and for a request without a token", async () => {
    const headers = { ...libraries.superagent, "Content-Type": "application/json" }
    const body = { email: (await register(service)).email, password: "wrong_password" }
    for (const answer of [
      await send(service, "POST", "/auth/token", headers, body),
      await send(service, "GET", "/account", libraries.superagent),
    ]) {
      expect(answer.status).toBe(401)
      expect(answer.body.error).toEqual(expect.stringMatching(/\w/))
    }
  })

  it("reads the end of the access token from `exp`, to refresh it in time", async () => {
    const { tokens } = await register(service)
    const [, payload] = tokens.access_token.split(".")
    const base64 = payload!.replace(/-/g, "+").replace(/_/g, "/")
    const { exp } = JSON.parse(Buffer.from(base64, "base64").toString("binary"))
    expect(exp - Date.now() / 1000).toBeGreaterThan(30)
    const headers = { ...libraries.superagent, "Content-Type": "application/json" }
    const body = { refresh_token: tokens.refresh_token }
    const renewed = await send(service, "POST", "/auth/token/refresh", headers, body)
    expect(renewed.body).toMatchObject({
      access_token: expect.stringMatching(/./),
      refresh_token: expect.stringMatching(/./),
    })
  })
})
