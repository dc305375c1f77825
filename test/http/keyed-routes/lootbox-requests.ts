import { generateKeyPairSync, randomUUID } from "node:crypto"
import type { TestService, TestUser } from "../../fixtures/service.ts"
import { freshId } from "../../orders/shopper.ts"
import type { Prepare } from "./keyed-request.ts"
import { done } from "./keyed-request.ts"

const boxType = {
  name: "Starter",
  description: "",
  config: {
    size: 2,
    min_length: 4,
    max_length: 6,
    min_base_score: 1,
    max_base_score: 100,
    guarantees: [],
    weights: [],
  },
}

const newAdmin = (service: TestService) => service.user({ role: "Admin" })

const newBox = async (service: TestService, admin: TestUser, facts: Record<string, unknown>) => {
  const made = await done(service, admin, "POST", "/lootboxes", { yats: [freshId(), freshId()], ...facts })
  return `/lootboxes/${made.id}`
}

/** A valid Ed25519 public key that no test has used. */
const newPubkey = (): string =>
  generateKeyPairSync("ed25519")
    .publicKey.export({ format: "der", type: "spki" })
    .subarray(-32)
    .toString("hex")

const discount = () => ({
  name: "a code",
  code_type: "Discount",
  discount_in_cents: 5,
  redemption_code: randomUUID(),
  pattern: { min_length: 2 },
  end_date: "2040-01-01T00:00:00.000Z",
})
const newCode = async (service: TestService, admin: TestUser) =>
  `/codes/${(await done(service, admin, "POST", "/codes", discount())).id}`

export const lootboxRequests: Record<string, Prepare> = {
  createType: async (service) => {
    const { token } = await newAdmin(service)
    return { method: "POST", path: "/lootbox_type", options: { token, body: boxType } }
  },
  generateLootBoxes: async (service) => {
    const admin = await newAdmin(service)
    const { id } = await done(service, admin, "POST", "/lootbox_type", boxType)
    const body = { loot_box_type_id: id, num_boxes: 3 }
    return { method: "POST", path: "/lootbox_type/generate", options: { token: admin.token, body } }
  },
  createLootbox: async (service) => {
    const { token } = await newAdmin(service)
    const body = { status: "Available", yats: [freshId(), freshId()] }
    return { method: "POST", path: "/lootboxes", options: { token, body } }
  },
  updateLootbox: async (service) => {
    const admin = await newAdmin(service)
    const { id } = await service.user()
    const path = await newBox(service, admin, { status: "Owned", owner_id: id })
    return { method: "PATCH", path, options: { token: admin.token, body: { status: "Used" } } }
  },
  deleteLootbox: async (service) => {
    const admin = await newAdmin(service)
    const path = await newBox(service, admin, { status: "Available" })
    return { method: "DELETE", path, options: { token: admin.token } }
  },
  openLootbox: async (service) => {
    const { id, token } = await service.user()
    const path = await newBox(service, await newAdmin(service), { status: "Owned", owner_id: id })
    return { method: "POST", path: `${path}/open`, options: { token } }
  },
  createCode: async (service) => {
    const { token } = await newAdmin(service)
    return { method: "POST", path: "/codes", options: { token, body: discount() } }
  },
  deleteCode: async (service) => {
    const admin = await newAdmin(service)
    return { method: "DELETE", path: await newCode(service, admin), options: { token: admin.token } }
  },
  activateRandomYatCode: async (service) => {
    const code = { name: "Welcome", code_type: "RandomYat", activator: "RedemptionCode" }
    const redemption_code = randomUUID().slice(0, 20)
    await done(service, await newAdmin(service), "POST", "/codes", { ...code, redemption_code, max_uses: 1 })
    const { token } = await service.user()
    const body = { nonce: "", pubkey: "", signature: "" }
    return { method: "POST", path: `/codes/${redemption_code}/random_yat`, options: { token, body } }
  },
  addPubkeyForCode: async (service) => {
    const admin = await newAdmin(service)
    const path = `${await newCode(service, admin)}/pubkeys/${newPubkey()}?kind=ed25519`
    return { method: "POST", path, options: { token: admin.token } }
  },
  revokePubkeyForCode: async (service) => {
    const admin = await newAdmin(service)
    const path = `${await newCode(service, admin)}/pubkeys/${newPubkey()}`
    await done(service, admin, "POST", `${path}?kind=ed25519`)
    return { method: "DELETE", path, options: { token: admin.token } }
  },
}
