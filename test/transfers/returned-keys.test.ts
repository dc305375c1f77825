import { ed25519 } from "@noble/curves/ed25519.js"
import { describe, expect, it } from "vitest"
import { ownershipMessage } from "../../src/keys/pubkeys.ts"
import { type Answer, serve, type TestUser } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"
import { codeFor, grant, makeIds, ownerOf } from "./transfer-service.ts"

const service = await serve()
const nextId = makeIds(86_000)

/** Creates a transfer to a key that a user has added without having the private key. */
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
  const claimKey = () => {
    const signature = Buffer.from(ed25519.sign(ownershipMessage(holder.id), secretKey)).toString("hex")
    return service.call("POST", `/pubkeys/${pubkey}?signature=${signature}`, { token: holder.token })
  }
  const giveBack = async () => expect((await claimKey()).body).toBe(pubkey)
  return { eid, sender, squatter, pubkey, accept, claimKey, giveBack }
}

describe("a transfer to a key that was added by one user and then claimed by its real holder", () => {
  it("cannot be accepted by the user who lost the key", async () => {
    const { accept, eid, giveBack, sender, squatter } = await sentToSquattedKey()
    expect((await accept("sender", sender)).status).toBe(200)
    await giveBack()
    expect((await accept("receiver", squatter)).status).toBe(409)
    expect(await ownerOf(service, eid)).toBe(sender.id)
  })

  it("cannot be confirmed by the sender, because the recipient changed", async () => {
    const { accept, giveBack, sender } = await sentToSquattedKey()
    await giveBack()
    expect((await accept("sender", sender)).status).toBe(409)
  })

  it("cannot be accepted if the key is claimed during the acceptance", async () => {
    const { accept, eid, giveBack, sender, squatter } = await sentToSquattedKey()
    expect((await accept("sender", sender)).status).toBe(200)
    let accepted: Promise<Answer> | undefined
    await service.sql.begin(async (sql) => {
      await sql`select 1 from emoji_id where canonical = ${eid} for update`
      accepted = accept("receiver", squatter)
      await expect.poll(() => waiting(service)).toHaveLength(1)
      await giveBack()
    })
    expect((await accepted)?.status).toBe(409)
    expect(await ownerOf(service, eid)).toBe(sender.id)
  })
})

it("a key cannot be claimed by its real holder if an id is bound to the key during the request", async () => {
  const { claimKey, pubkey, squatter } = await sentToSquattedKey()
  const canonical = nextId()
  const bound = [{ canonical, owner_id: squatter.id, pubkey, source: "test" }]
  let claimed: Promise<Answer> | undefined
  await service.sql.begin(async (sql) => {
    await sql`select put_grants(${JSON.stringify(bound)}::text::jsonb)`
    claimed = claimKey()
    await expect.poll(() => waiting(service)).toHaveLength(1)
  })
  expect((await claimed)?.body.fields?.pubkey[0].code).toBe("uniqueness")
  expect((await service.call("GET", "/pubkeys", { token: squatter.token })).body).toContain(pubkey)
})
