import { ed25519 } from "@noble/curves/ed25519.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { signEthMessage } from "../../../src/keys/eth-message.ts"
import { freshId } from "../../orders/shopper.ts"
import { grant } from "../../transfers/transfer-service.ts"
import type { Prepare } from "./keyed-request.ts"

/** Registers an id for a new user. */
const ownId = async (service: Parameters<Prepare>[0]) => {
  const owner = await service.user()
  const id = freshId()
  await grant(service, owner, id)
  return { owner, id, path: `/emoji_id/${encodeURIComponent(id)}` }
}

const newPubkey = () => {
  const { publicKey, secretKey } = ed25519.keygen()
  return { pubkey: Buffer.from(publicKey).toString("hex"), secretKey }
}

export const directoryRequests: Record<string, Prepare> = {
  storeJson: async (service) => {
    const { owner, path } = await ownId(service)
    const body = {
      data: { name: "moon" },
      locked_future_writes_at: new Date(Date.now() + 3_600_000).toISOString(),
      linked_tags: [{ tag: "0x4001", data: "https://example.com" }],
    }
    return { method: "POST", path: `${path}/json/VisualizerName`, options: { token: owner.token, body } }
  },
  editEmojiID: async (service) => {
    const { owner, path } = await ownId(service)
    const body = { insert: [{ tag: "0x4001", data: "https://example.com" }] }
    return { method: "PATCH", path, options: { token: owner.token, body } }
  },
  generateSignature: async (service) => {
    const { owner, path } = await ownId(service)
    const body = { account: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045" }
    return { method: "POST", path: `${path}/generate_signature`, options: { token: owner.token, body } }
  },
  setMinted: async (service) => {
    const { path } = await ownId(service)
    const { token } = await service.user({ role: "Admin" })
    return { method: "PUT", path: `${path}/minted`, options: { token, body: { minted: true } } }
  },
  registerEmojiID: async (service) => {
    const { id } = await service.user()
    const { token } = await service.user({ role: "Admin" })
    return {
      method: "POST",
      path: "/emoji_id",
      options: { token, body: { emoji_id: freshId(), user_id: id } },
    }
  },
  destroyEmojiID: async (service) => {
    const { path } = await ownId(service)
    const { token } = await service.user({ role: "Admin" })
    return { method: "DELETE", path, options: { token } }
  },
  writePriceParameters: async (service) => {
    const { token } = await service.user({ role: "Admin" })
    const { body } = await service.call("GET", "/price_parameters", { token })
    return { method: "PUT", path: "/price_parameters", options: { token, body } }
  },
  createWallet: async (service) => ({
    method: "POST",
    path: "/pubkeys",
    options: { token: (await service.user()).token },
  }),
  addPubkey: async (service) => {
    const [{ id, token }, other] = [await service.user(), await service.user()]
    const { pubkey, secretKey } = newPubkey()
    const path = `/pubkeys/${pubkey}`
    await service.call("POST", path, { token: other.token })
    const message = Buffer.from(`Emoji Id Directory: this key belongs to the user ${id}`)
    const signature = Buffer.from(ed25519.sign(message, secretKey)).toString("hex")
    return { method: "POST", path: `${path}?signature=${signature}`, options: { token } }
  },
  addPubkeyForUser: async (service) => {
    const { id } = await service.user()
    const { token } = await service.user({ role: "Admin" })
    return { method: "POST", path: `/users/${id}/pubkeys/${newPubkey().pubkey}`, options: { token } }
  },
  syncWallet: async (service) => {
    const { token } = await service.user()
    const { body } = await service.call("GET", "/wallets/challenge?source=Mint", { token })
    const signature = signEthMessage(Buffer.from(body.message), secp256k1.keygen().secretKey)
    return { method: "POST", path: "/wallets", options: { token, body: { signature, source: "Mint" } } }
  },
  registerInterest: async (service) => ({
    method: "POST",
    path: "/user_interests",
    options: { token: (await service.user()).token, body: { emoji_id: freshId() } },
  }),
  deleteUserInterest: async (service) => {
    const { token } = await service.user()
    const id = freshId()
    await service.call("POST", "/user_interests", { token, body: { emoji_id: id } })
    return { method: "DELETE", path: `/user_interests/${encodeURIComponent(id)}`, options: { token } }
  },
}
