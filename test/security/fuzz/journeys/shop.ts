import { generateKeyPairSync, sign } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { blake2b } from "@noble/hashes/blake2.js"
import { Effect, Redacted } from "effect"
import { makeKeyRing } from "../../../../src/crypto/key-ring.ts"
import { signWebhook } from "../../../../src/orders/payments/sandbox-signature.ts"
import { type Person, password, type World } from "../world.ts"

const card = {
  method: "CardCheckout",
  success_url: "https://shop.example/done",
  cancel_url: "https://shop.example/back",
}
const paidWithinMs = 20_000

const add = (world: World, as: Person, ...ids: ReadonlyArray<string>) =>
  world.call("addItems", { as, json: { items: ids.map((emoji_id) => ({ emoji_id })) } })

/** Pays in the sandbox, and waits until the webhook has arrived. */
const pay = async (
  world: World,
  as: Person,
  order: { id: string; checkout_url?: string },
  session: string,
) => {
  await world.call("sandboxCheckout", { params: { session } })
  await world.call("sandboxPay", { params: { session }, form: { action: "pay" } })
  for (const until = Date.now() + paidWithinMs; Date.now() < until; await sleep(50)) {
    const { json } = await world.call("getOrder", { as, params: { id: order.id } })
    if (json.status === "Paid") return
  }
  throw new Error("the webhook of the sandbox did not arrive")
}

const sessionOf = async (world: World, orderId: string): Promise<string> => {
  const [row] = await world.lane.target.sql<{ session_id: string }[]>`
    select session_id from sandbox_intent where order_id = ${orderId} order by created_at desc limit 1`
  return row?.session_id ?? ""
}

/** Reports a declined payment with a signature of the sandbox, as the sandbox itself does. */
const declineByWebhook = async (world: World, orderId: string) => {
  const [id = "", secret = ""] = world.lane.target.secretKeys.split(":")
  const ring = await Effect.runPromise(
    makeKeyRing([{ id, secret: Redacted.make(secret) }], "sandbox-webhook"),
  )
  const event = { kind: "declined", provider: "sandbox", orderId, reason: "Your card was declined." }
  const rawBody = Buffer.from(JSON.stringify({ id: world.unique("evt"), event }))
  const headers = { "sandbox-signature": signWebhook(ring, rawBody, Date.now()) }
  await world.call("sandboxWebhook", { rawBody, headers })
}

/** Carts and checkouts until the payment, and what follows a payment. */
export const purchases = async (world: World): Promise<void> => {
  const buyer = await world.user("buyer")
  const as = buyer
  const admin = await world.admin()
  const { json: cart } = await add(world, buyer, world.freshId(), world.freshId())
  await world.call("getItems", { as })
  await world.call("removeItem", { as, params: { cart_item_id: cart.order_items[0].id } })
  await world.call("clearCart", { as })
  await add(world, buyer, world.freshId())
  await world.call("checkout", { as, json: { method: "CryptoCommerce" } })
  await world.call("convertOrderToDraft", { as })
  const { json: pending } = await world.call("checkout", { as, json: card })
  await world.call("checkoutOrder", { as, params: { id: pending.id }, json: card })
  await world.call("applyPromoCode", { as, json: { code: "DEMO-10" } })
  await declineByWebhook(world, pending.id)
  await pay(world, buyer, pending, await sessionOf(world, pending.id))
  await world.call("listOrders", { as })
  await world.call("resendOrderConfirmation", { as: admin, params: { id: pending.id } })
  await world.call("refundOrder", {
    as: admin,
    params: { id: pending.id },
    json: { amount: 1, reason: "fuzz" },
  })
  await world.call("overrideRefund", {
    as: admin,
    params: { id: pending.id },
    json: { amount: 1, external_reference: world.unique("refund") },
  })
  await world.call("listRefunds", { as: admin, params: { id: pending.id } })
  const { json: methods } = await world.call("listPaymentMethods", { as })
  await world.call("setDefaultPaymentMethod", { as, params: { id: methods[0]?.id ?? "" } })
  await world.call("deletePaymentMethods", { as, params: { id: methods[0]?.id ?? "" } })
  await add(world, buyer, world.freshId())
  const { json: wired } = await world.call("checkout", { as, json: { method: "CryptoCommerce" } })
  await world.call("overridePayment", {
    as: admin,
    params: { id: wired.id },
    json: { amount: 100, external_reference: world.unique("wire") },
  })
}

/** Lootboxes: types, generation, sale, change, opening and deletion. */
export const lootboxes = async (world: World): Promise<void> => {
  const admin = await world.admin()
  const owner = await world.user("owner of a lootbox")
  const as = admin
  const config = {
    size: 2,
    min_length: 5,
    max_length: 6,
    min_base_score: 1,
    max_base_score: 60,
    guarantees: [],
    weights: [],
  }
  const { json: type } = await world.call("createType", {
    as,
    json: { name: world.unique("type"), description: "fuzz", config },
  })
  await world.call("getTypes", { as })
  await world.call("generateLootBoxes", { as, json: { loot_box_type_id: type.id, num_boxes: 1 } })
  const yats = [world.freshId(), world.freshId()]
  const { json: box } = await world.call("createLootbox", { as, json: { status: "Draft", yats } })
  const params = { id: box.id as string }
  await world.call("updateLootbox", { as, params, json: { status: "Owned", owner_id: owner.id } })
  await world.call("showLootbox", { as: owner, params })
  await world.call("listLootboxes", { as: owner })
  await world.call("openLootbox", { as: owner, params })
  const { json: spare } = await world.call("createLootbox", {
    as,
    json: { status: "Available", yats: [world.freshId()] },
  })
  await world.call("addItems", { as: owner, json: { items: [{ lootbox_id: spare.id }] } })
  await world.call("deleteLootbox", { as, params: { id: spare.id } })
}

/** Promo codes, and a code that gives a random id to a wallet's user for a signature. */
export const codes = async (world: World): Promise<void> => {
  const admin = await world.admin()
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const pubkey = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex")
  const { json: code } = await world.call("createCode", {
    as: admin,
    json: { name: "fuzz", code_type: "RandomYat", max_uses: 5, pattern: { min_length: 6, max_length: 6 } },
  })
  const params = { code_id: code.id as string, pubkey }
  await world.call("addPubkeyForCode", { as: admin, params, query: { kind: "ed25519" } })
  const alternate_id = world.unique("wallet")
  const { json } = await world.call("createUser", { json: { alternate_id, password } })
  const user = world.person("user of a wallet", "", json)
  const nonce = world.unique("n")
  const signed = sign(null, blake2b(Buffer.from(alternate_id + nonce), { dkLen: 32 }), privateKey)
  await world.call("activateRandomYatCode", {
    as: user,
    params,
    json: { nonce, pubkey, signature: signed.toString("hex") },
  })
  await world.call("checkout", { as: user, json: { method: "Free" } })
  await world.call("revokePubkeyForCode", { as: admin, params })
  await world.call("listCodes", { as: admin })
  await world.call("deleteCode", { as: admin, params })
}
