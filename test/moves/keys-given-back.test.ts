import { ed25519 } from "@noble/curves/ed25519.js"
import { describe, expect, it } from "vitest"
import { ownershipMessage } from "../../src/services/pubkeys.ts"
import { serve, type TestUser } from "../fixtures/service.ts"
import { codeFor, grant, makeIds, ownerOf } from "./moves.ts"

const service = await serve()
const nextId = makeIds(86_000)

/** An id on its way to a key that somebody has added whose key it is not. */
const sentToSquattedKey = async () => {
  const [sender, squatter, holder] = await Promise.all([service.user(), service.user(), service.user()])
  const { publicKey, secretKey } = ed25519.keygen()
  const pubkey = Buffer.from(publicKey).toString("hex")
  await service.call("POST", `/pubkeys/${pubkey}`, { token: squatter.token })
  const eid = nextId()
  await grant(service, sender, eid)
  const begun = await service.call("POST", "/transfers", { token: sender.token, body: { eid, pubkey } })
  const accept = async (side: "sender" | "receiver", user: TestUser) =>
    service.call("POST", `/transfers/${begun.body.id}/${side}_accept`, {
      token: user.token,
      body: { code: await codeFor(service, user.email, begun.body.id) },
    })
  const giveBack = async () => {
    const signature = Buffer.from(ed25519.sign(ownershipMessage(holder.id), secretKey)).toString("hex")
    const path = `/pubkeys/${pubkey}?signature=${signature}`
    expect((await service.call("POST", path, { token: holder.token })).body).toBe(pubkey)
  }
  return { eid, sender, squatter, accept, giveBack }
}

describe("a transfer to a key that its holder got back from who had added it", () => {
  it("is not accepted by who has lost the key", async () => {
    const { accept, eid, giveBack, sender, squatter } = await sentToSquattedKey()
    expect((await accept("sender", sender)).status).toBe(200)
    await giveBack()
    expect((await accept("receiver", squatter)).status).toBe(409)
    expect(await ownerOf(service, eid)).toBe(sender.id)
  })

  it("is not confirmed by a sender who would send it to somebody else", async () => {
    const { accept, giveBack, sender } = await sentToSquattedKey()
    await giveBack()
    expect((await accept("sender", sender)).status).toBe(409)
  })
})
