import { generateKeyPairSync, randomUUID, sign } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { blake2b } from "@noble/hashes/blake2.js"
import { signEthMessage } from "../../../../src/keys/eth-message.ts"
import type { TestService, TestUser } from "../../../fixtures/test-service.ts"
import { card, freshId } from "../../../orders/shopper.ts"
import type { Prepare } from "./prepared.ts"

const paidPollMs = 50
const paidPolls = 400

const done = async (
  service: TestService,
  method: string,
  path: string,
  { token }: TestUser,
  body?: unknown,
) => {
  const answer = await service.call(method, path, { token, ...(body === undefined ? {} : { body }) })
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

const fill = (service: TestService, user: TestUser) =>
  done(service, "POST", "/cart", user, { items: [{ emoji_id: freshId() }] })

const pending = async (service: TestService, user: TestUser) => {
  await fill(service, user)
  return done(service, "POST", "/cart/checkout", user, card)
}

/** An order that was paid at the sandbox, so that the sandbox can refund it. */
const paid = async (service: TestService, user: TestUser): Promise<string> => {
  const order = await pending(service, user)
  const session = /\/sandbox\/checkout\/([^/?"]+)/.exec(JSON.stringify(order))?.[1]
  await service.call("POST", `/sandbox/checkout/${session}`, {
    rawBody: "action=pay",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  })
  for (let poll = 0; poll < paidPolls; poll++) {
    if ((await done(service, "GET", `/orders/${order.id}`, user)).status === "Paid") return order.id
    await sleep(paidPollMs)
  }
  throw new Error(`order ${order.id} was not paid`)
}

/** Purchases, codes and wallets, with everything that success needs. */
export const shopFixtures: Readonly<Record<string, Prepare>> = {
  checkoutFree: async (service) => {
    const user = await service.user()
    await fill(service, user)
    return { path: "/cart/checkout", token: user.token, body: { method: "Free" } }
  },
  applyPromoCode: async (service) => {
    const [admin, user] = [await service.user({ role: "Admin" }), await service.user()]
    const redemption_code = randomUUID()
    const code = { name: "code", code_type: "Discount", discount_as_percentage: 10, redemption_code }
    await done(service, "POST", "/codes", admin, code)
    await pending(service, user)
    return { path: "/cart/promo_code", token: user.token, body: { code: redemption_code } }
  },
  refundOrder: async (service) => {
    const [admin, user] = [await service.user({ role: "Admin" }), await service.user()]
    return { path: `/orders/${await paid(service, user)}/refund`, token: admin.token, body: {} }
  },
  activateRandomYatCode: async (service) => {
    const admin = await service.user({ role: "Admin" })
    const { privateKey, publicKey } = generateKeyPairSync("ed25519")
    const pubkey = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex")
    const pattern = { min_length: 6, max_length: 6 }
    const code = { name: "code", code_type: "RandomYat", max_uses: 5, pattern }
    const { id } = await done(service, "POST", "/codes", admin, code)
    await done(service, "POST", `/codes/${id}/pubkeys/${pubkey}?kind=ed25519`, admin)
    const alternate_id = randomUUID()
    const made = await service.call("POST", "/users", {
      body: { alternate_id, password: "correct horse battery" },
    })
    const nonce = randomUUID()
    const digest = blake2b(Buffer.from(alternate_id + nonce), { dkLen: 32 })
    return {
      path: `/codes/${id}/random_yat`,
      token: made.body.access_token,
      body: { nonce, pubkey, signature: sign(null, digest, privateKey).toString("hex") },
    }
  },
  syncWallet: async (service) => {
    const user = await service.user()
    const { message } = await done(service, "GET", "/wallets/challenge?source=Mint", user)
    const signature = signEthMessage(Buffer.from(message), secp256k1.utils.randomSecretKey())
    return { path: "/wallets", token: user.token, body: { signature, source: "Mint" } }
  },
}
