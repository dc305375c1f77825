import { randomBytes } from "node:crypto"
import { ristretto255 } from "@noble/curves/ed25519.js"
import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { freshId } from "../orders/shopper.ts"
import { send } from "./send.ts"

const json = { "Content-Type": "application/json", Accept: "*/*" }
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

let service: TestService
let apiKey: string
beforeAll(async () => {
  service = await serve()
  const partner = await service.user()
  const made = await service.call("POST", "/api_keys", { token: partner.token, body: { name: "partner" } })
  apiKey = made.body.api_key
})

const account = () => ({
  alternate_id: `user-${randomBytes(8).toString("hex")}`,
  password: randomBytes(16).toString("hex"),
})
const register = (user: object) =>
  send(service, "POST", "/users", { ...json, "X-Api-Key": apiKey }, { ...user, source: "partner server" })
const login = async (user: object) => {
  const { body } = await send(service, "POST", "/auth/token", json, user)
  return { Authorization: `Bearer ${body.access_token}` }
}

// Typed decoders reject a number outside of the declared range.
const isInt32 = (value: unknown) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31
const isUnsigned = (value: unknown) => isInt32(value) && (value as number) >= 0

describe("the server of a partner that registers users with its API key", () => {
  it("creates the user with status 200, and gets an error that it can decode the second time", async () => {
    const user = account()
    expect((await register(user)).status).toBe(200)
    const again = await register(user)
    expect(again.status).toBe(422)
    expect(again.body.error).toEqual(expect.any(String))
    for (const items of Object.values<ReadonlyArray<unknown>>(again.body.fields))
      for (const item of items)
        expect(item).toEqual({ code: expect.any(String), message: expect.any(String) })
  })

  it("reads the new user's id, alternate_id, limits and ids after a login", async () => {
    const user = account()
    await register(user)
    const authorization = await login(user)
    const { status, body } = await send(service, "GET", "/account", authorization)
    expect(status).toBe(200)
    expect(body.user).toMatchObject({ id: uuid, alternate_id: user.alternate_id })
    expect([body.user.free_limit, body.user.remaining_free_emoji].every(isInt32)).toBe(true)
    const ids = await send(service, "GET", "/emoji_id", authorization)
    expect([ids.status, ids.body]).toEqual([200, []])
  })

  it("can read the custodial key of a user as a Ristretto255 point and check out with it", async () => {
    const user = account()
    await register(user)
    const authorization = await login(user)
    const made = await send(service, "POST", "/pubkeys", { ...json, ...authorization }, "null")
    expect(made.status).toBe(200)
    const { body } = await send(service, "GET", "/account", authorization)
    const [pubkey] = body.user.pubkeys
    expect(ristretto255.Point.fromHex(pubkey).toHex()).toBe(pubkey)

    const id = freshId()
    const headers = { ...json, ...authorization }
    await send(service, "POST", "/cart", headers, { items: [{ emoji_id: id }] })
    const tracking_data = { source: "partner server" }
    const order = await send(service, "POST", "/cart/checkout", headers, {
      method: "Free",
      pubkey,
      tracking_data,
    })
    expect(order.status).toBe(200)
    expect((await send(service, "GET", "/emoji_id", authorization)).body).toEqual([id])
  })

  it("gets orders whose members fit into the types of its decoder", async () => {
    const user = account()
    await register(user)
    const headers = { ...json, ...(await login(user)) }
    await send(service, "POST", "/cart", headers, { items: [{ emoji_id: freshId() }] })
    const { body } = await send(service, "POST", "/cart/checkout", headers, { method: "Free" })
    expect(body).toMatchObject({
      id: uuid,
      user_id: uuid,
      status: "Paid",
      order_number: body.id.slice(-8),
      eligible_for_refund: expect.any(Boolean),
      user: { id: uuid, alternate_id: user.alternate_id },
    })
    expect(body.seconds_until_expiry === undefined || isUnsigned(body.seconds_until_expiry)).toBe(true)
    for (const total of ["total_in_cents", "misc_refunded_total_in_cents", "refunded_total_in_cents"])
      expect(Number.isSafeInteger(body[total])).toBe(true)
    expect(body.order_items.length).toBeGreaterThan(0)
    for (const item of body.order_items) {
      expect(item).toMatchObject({ id: uuid, order_id: body.id })
      expect(["Discount", "EmojiId"]).toContain(item.item_type)
      const numbers = [item.quantity, item.refunded_quantity, item.unit_price_in_cents]
      expect([...numbers, item.company_fee_in_cents, item.client_fee_in_cents].every(isInt32)).toBe(true)
      expect(item.rhythm_score === undefined || isInt32(item.rhythm_score)).toBe(true)
    }
  })
})
