import { randomUUID } from "node:crypto"
import { ed25519 } from "@noble/curves/ed25519.js"
import { beforeAll, expect, it } from "vitest"
import { ownershipMessage } from "../../../src/keys/pubkeys.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { atSandbox, crypto, freshId, newShopper, until } from "../shopper.ts"

let service: TestService
let admin: Awaited<ReturnType<typeof newShopper>>
beforeAll(async () => {
  service = await serve()
  admin = await newShopper(service, { role: "Admin" })
})

/** Creates a buyer with two keys, and an order pending payment that is bound to the second key. */
const choose = async () => {
  const buyer = await newShopper(service)
  const { body: first } = await buyer.call("POST", "/pubkeys")
  const { body: chosen } = await buyer.call("POST", "/pubkeys")
  const id = freshId()
  await buyer.add(id)
  const order = (await buyer.checkout({ ...crypto, pubkey: chosen })).body
  expect(order.status).toBe("PendingPayment")
  const keyOf = async () =>
    (await service.sql`select pubkey from emoji_id where canonical = ${id}`)[0]?.["pubkey"]
  return { buyer, chosen, first, keyOf, order }
}

it("when an administrator books cash for an order, the id is bound to the key that the buyer chose", async () => {
  const { chosen, keyOf, order } = await choose()
  const paid = await admin.call("POST", `/cart/checkout/${order.id}`, { method: "Cash" })
  expect(paid.body.status).toBe("Paid")
  expect(await keyOf()).toBe(chosen)
})

it("when a code reduces the amount due to zero, the id is bound to the key that the buyer chose", async () => {
  const { buyer, chosen, keyOf } = await choose()
  const redemption_code = `KEY-${randomUUID().slice(0, 8)}`
  const code = { name: "key", code_type: "Discount", discount_as_percentage: 100, redemption_code }
  expect((await admin.call("POST", "/codes", code)).status).toBe(200)
  expect((await buyer.call("POST", "/cart/promo_code", { code: redemption_code })).status).toBe(200)
  expect((await buyer.checkout({ method: "Free" })).body.status).toBe("Paid")
  expect(await keyOf()).toBe(chosen)
})

it("a repeated checkout is rejected if it names another key", async () => {
  const { buyer, chosen, first, order } = await choose()
  const other = await buyer.checkout({ ...crypto, pubkey: first })
  expect([other.status, other.body.allowed]).toEqual([409, expect.arrayContaining(["convert_to_draft"])])
  const unknown = await buyer.checkout({ ...crypto, pubkey: "00".repeat(32) })
  expect(unknown.body.fields.pubkey[0].code).toBe("unknown")
  for (const again of [crypto, { ...crypto, pubkey: chosen }])
    expect((await buyer.checkout(again)).body).toMatchObject({ id: order.id, status: "PendingPayment" })
})

it("an id is not bound to a key that another user took over before the payment", async () => {
  const buyer = await newShopper(service)
  const holder = await newShopper(service)
  const { body: first } = await buyer.call("POST", "/pubkeys")
  const { publicKey, secretKey } = ed25519.keygen()
  const foreign = Buffer.from(publicKey).toString("hex")
  await buyer.call("POST", `/pubkeys/${foreign}`)
  const id = freshId()
  await buyer.add(id)
  const { body: order } = await buyer.checkout({ ...crypto, pubkey: foreign })
  const proof = Buffer.from(ed25519.sign(ownershipMessage(holder.id), secretKey)).toString("hex")
  expect((await holder.call("POST", `/pubkeys/${foreign}?signature=${proof}`)).status).toBe(200)
  await atSandbox(service, order.payment_method_data.session_id, "pay")
  await until(
    () => buyer.order(order.id),
    ({ body }) => body.status === "Paid",
  )
  const written = await holder.call("PATCH", `/emoji_id/${encodeURIComponent(id)}`, {
    insert: [{ tag: "0x4001", data: "https://theirs.example" }],
  })
  expect(written.status).toBe(403)
  expect(await service.sql`select owner_id, pubkey from emoji_id where canonical = ${id}`).toEqual([
    { owner_id: buyer.id, pubkey: first },
  ])
})
