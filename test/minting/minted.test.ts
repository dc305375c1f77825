import { describe, expect, it } from "vitest"
import type { Scope } from "../../schema/accounts/scope.ts"
import { expectContract } from "../fixtures/contract.ts"
import { serve, type TestUser } from "../fixtures/service.ts"
import { codeFor, eventTypes, grant, makeIds, ownerOf } from "../transfers/transfer-service.ts"

const account = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
const nextId = makeIds()
const service = await serve({}, { peersPossible: true })
const other = await serve({}, { peersPossible: true, database: service.database })
const [admin, owner, recipient] = await Promise.all([
  service.user({ role: "Admin" }),
  service.user(),
  service.user(),
])

const owned = async () => {
  const eid = nextId()
  await grant(service, owner, eid)
  return eid
}
const pathOf = (eid: string) => `/emoji_id/${encodeURIComponent(eid)}`
const record = (
  eid: string,
  body: unknown,
  options: { token?: string; headers?: Record<string, string> } = admin,
) =>
  service.call("PUT", `${pathOf(eid)}/minted`, {
    ...("headers" in options ? { headers: options.headers! } : { token: options.token! }),
    body,
  })
const minted = async () => {
  const eid = await owned()
  expect((await record(eid, { minted: true })).status).toBe(200)
  return eid
}
const itemOf = async (eid: string, user: TestUser = owner) => {
  const { body } = await service.call("GET", "/emoji_id/extended?limit=500", { token: user.token })
  return body.find((item: { canonical_format: string }) => item.canonical_format === eid)
}
const send = (eid: string, force_transfer = false) =>
  service.call("POST", "/transfers", {
    token: (force_transfer ? admin : owner).token,
    body: { eid, email: recipient.email, force_transfer },
  })
const accept = async (id: string, side: "sender" | "receiver", user: TestUser) =>
  service.call("POST", `/transfers/${id}/${side}_accept`, {
    token: user.token,
    body: { code: await codeFor(service, user.email, id) },
  })
const logOf = async () =>
  (await service.call("GET", "/account/security_log", { token: owner.token })).body.data as ReadonlyArray<{
    event: string
    details: object
  }>

describe("PUT /emoji_id/{emoji_id}/minted", () => {
  it("returns the id as the list of its owner shows it, also if it is repeated", async () => {
    const eid = await owned()
    await service.sql`update emoji_id set blocked_until = now() + interval '1 hour' where canonical = ${eid}`
    const { body } = await record(eid, { minted: true })
    expect(body).toEqual(await itemOf(eid))
    expect(body).toMatchObject({ minted: true, blocked_until: expect.any(String) })
    expect((await record(eid, { minted: true })).body).toEqual(body)
  })

  it("records the mint: the id is listed as minted, with the token_id of its metadata", async () => {
    const eid = await owned()
    const before = await itemOf(eid)
    expect(before.minted).toBe(false)
    const { body, status } = await record(eid, { minted: true, token_id: before.token_id })
    expect(status).toBe(200)
    expectContract("EmojiListItem", body)
    expect(body).toEqual({ ...before, minted: true, version: before.version + 1 })
    expect(await itemOf(eid)).toEqual(body)
    const metadata = await service.call("GET", `/nft_transfers/metadata/${body.token_id}`)
    expect(metadata.body.name).toBe(body.display_format)
  })

  it("is an event of the id's channel and an entry in the owner's security log, each once", async () => {
    const eid = await owned()
    const { body } = await record(eid, { minted: true })
    const again = await record(eid, { minted: true })
    expect([again.status, again.body]).toEqual([200, body])
    expect(await eventTypes(service, `emoji_id:${eid}`)).toEqual(["emoji_id.minted"])
    const entries = (await logOf()).filter(({ details }) => "emoji_id" in details && details.emoji_id === eid)
    expect(entries).toMatchObject([
      { event: "mint.recorded", actor: "administrator", details: { emoji_id: eid, token_id: body.token_id } },
    ])
  })

  it("changes the version of lookups in every process before it answers", async () => {
    const eid = await owned()
    const versions = async () => [
      (await service.call("GET", pathOf(eid))).body.version,
      (await other.call("GET", pathOf(eid))).body.version,
    ]
    const before = await versions()
    const { body } = await record(eid, { minted: true })
    expect(await versions()).toEqual([body.version, body.version])
    expect(before).toEqual([body.version - 1, body.version - 1])
  })

  it("with `minted: false` records that the token was destroyed", async () => {
    const eid = await minted()
    expect((await record(eid, { minted: false })).body.minted).toBe(false)
    expect((await itemOf(eid)).minted).toBe(false)
    expect(await eventTypes(service, `emoji_id:${eid}`)).toEqual(["emoji_id.minted", "emoji_id.minted"])
    expect((await logOf())[0]).toMatchObject({ event: "mint.removed", details: { emoji_id: eid } })
    expect((await send(eid)).status).toBe(200)
  })

  it("refuses another token_id with 422 and says the right one", async () => {
    const eid = await owned()
    const { token_id } = await itemOf(eid)
    const { body, status } = await record(eid, { minted: true, token_id: token_id + 1 })
    expect([status, body.fields.token_id[0].code]).toEqual([422, "mismatch"])
    expect(body.error).toContain(String(token_id))
    expect((await itemOf(eid)).minted).toBe(false)
  })

  it("refuses an id that is unsupported, not registered or in transfer, and a body without `minted`", async () => {
    expect((await record("hello", { minted: true })).status).toBe(400)
    expect((await record(nextId(), { minted: true })).status).toBe(404)
    const eid = await owned()
    expect((await record(eid, {})).status).toBe(400)
    expect((await record(eid, { minted: "yes" })).status).toBe(400)
    await send(eid)
    expect((await record(eid, { minted: true })).status).toBe(409)
    expect((await itemOf(eid)).minted).toBe(false)
  })

  it("needs adminEmoji:updateSecureData, and for `minted: false` also nftToken:destroy", async () => {
    const key = async (...scopes: ReadonlyArray<Scope>) => {
      const body = { name: "k", scopes }
      const made = await service.call("POST", "/api_keys", { token: admin.token, body })
      return { headers: { "x-api-key": made.body.api_key as string } }
    }
    const eid = await owned()
    expect((await record(eid, { minted: true }, owner)).status).toBe(403)
    const one = await key("adminEmoji:updateSecureData")
    expect((await record(eid, { minted: true }, one)).status).toBe(200)
    const refused = await record(eid, { minted: false }, one)
    expect([refused.status, refused.body.scope]).toEqual([403, "nftToken:destroy"])
    const both = await key("adminEmoji:updateSecureData", "nftToken:destroy")
    expect((await record(eid, { minted: false }, both)).status).toBe(200)
  })
})

describe("a minted id", () => {
  it("gets no further mint signature", async () => {
    const eid = await minted()
    const { body, status } = await service.call("POST", `${pathOf(eid)}/generate_signature`, {
      token: owner.token,
      body: { account },
    })
    expect([status, body.minted]).toEqual([409, true])
  })

  it("cannot be transferred by its owner", async () => {
    const { body, status } = await send(await minted())
    expect([status, body.minted]).toEqual([409, true])
  })

  it("moves with a transfer that an administrator forces, and stays minted", async () => {
    const eid = await minted()
    const { body } = await send(eid, true)
    expect((await accept(body.id, "receiver", recipient)).status).toBe(200)
    expect(await ownerOf(service, eid)).toBe(recipient.id)
    expect((await itemOf(eid, recipient)).minted).toBe(true)
  })

  it("cannot be removed from the directory before its token is recorded as destroyed", async () => {
    const eid = await minted()
    const destroy = () => service.call("DELETE", pathOf(eid), { token: admin.token })
    const refused = await destroy()
    expect([refused.status, refused.body.minted]).toEqual([409, true])
    expect(await ownerOf(service, eid)).toBe(owner.id)
    await record(eid, { minted: false })
    expect((await destroy()).status).toBe(200)
  })

  it("is not accepted by a recipient, if it is recorded while the transfer is created", async () => {
    const rounds = Array.from({ length: 10 }, async () => {
      const eid = await owned()
      const [sent, recorded] = await Promise.all([send(eid), record(eid, { minted: true })])
      return { eid, sent, recorded }
    })
    for (const { eid, recorded, sent } of await Promise.all(rounds)) {
      expect([sent.status, recorded.status]).toContain(200)
      if (sent.status === 200) {
        expect((await accept(sent.body.id, "sender", owner)).status).toBe(200)
        const accepted = await accept(sent.body.id, "receiver", recipient)
        expect(accepted.status).toBe(recorded.status === 200 ? 409 : 200)
      }
      expect(await ownerOf(service, eid)).toBe(recorded.status === 200 ? owner.id : recipient.id)
    }
  })
})
