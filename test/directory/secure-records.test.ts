import { describe, expect, it } from "vitest"
import { codeFor } from "../transfers/transfer-service.ts"
import { serveDirectory } from "./directory-service.ts"

const service = await serveDirectory()
const { admin } = service
const owner = await service.user()
const receiver = await service.user()

const pubkey = { tag: "0x0000", data: "ab".repeat(32) }
const expiry = { tag: "0x0003", data: "2030-01-31T12:00:00Z" }
const text = { tag: "0x5001", data: "mine" }

const tagsOf = async (id: string) =>
  (await service.lookup(id)).body.result.map((record: { tag: string }) => record.tag)
const store = (id: string, token: string, linked_tags: unknown) =>
  service.call("POST", `/emoji_id/${encodeURIComponent(id)}/json/SvcPageData`, {
    token,
    body: { data: {}, linked_tags },
  })
const reserved = (field: string) => ({ fields: { [field]: [{ code: "reserved_tag" }] } })

describe("the records 0x0000 (registered pubkey) and 0x0003 (expiry)", () => {
  it.each([
    ["valid pubkey", pubkey],
    ["valid expiry", expiry],
    ["arbitrary text", { tag: "0x0003", data: "never" }],
    ["tag in another spelling", { tag: "0X3", data: "never" }],
  ])(
    "cannot be set by the owner with PATCH or linked_tags, and nothing else of the request is stored (%s)",
    async (_, record) => {
      if ((await service.lookup("🐢🍕")).status === 404) await service.register("🐢🍕", owner)
      const edited = await service.edit("🐢🍕", owner, { insert: [text, record] })
      expect([edited.status, edited.body]).toMatchObject([422, reserved("insert")])
      const stored = await store("🐢🍕", owner.token, [text, record])
      expect([stored.status, stored.body]).toMatchObject([422, reserved("linked_tags")])
      expect(edited.body.error).toContain("adminEmoji:updateSecureData")
      expect(await tagsOf("🐢🍕")).toEqual([])
    },
  )

  it("can be set by an administrator, in a valid form only, and not be deleted by the owner", async () => {
    await service.register("🐢🔥", owner)
    for (const [record, code] of [
      [{ tag: "0x0000", data: "mine" }, "invalid_pubkey"],
      [{ tag: "0x0003", data: "never" }, "invalid_date"],
    ] as const) {
      const refused = await service.edit("🐢🔥", admin, { insert: [record] })
      expect([refused.status, refused.body.fields.insert[0].code]).toEqual([422, code])
    }
    expect((await service.edit("🐢🔥", admin, { insert: [pubkey, expiry] })).status).toBe(200)
    const { result } = (await service.lookup("🐢🔥")).body
    for (const { hash } of result) {
      const refused = await service.edit("🐢🔥", owner, { insert: [text], delete: [hash] })
      expect([refused.status, refused.body]).toMatchObject([422, reserved("delete")])
    }
    expect(await tagsOf("🐢🔥")).toEqual(["0x0000", "0x0003"])
    const hashes = result.map(({ hash }: { hash: string }) => hash)
    expect((await service.edit("🐢🔥", admin, { delete: hashes })).status).toBe(200)
    expect(await tagsOf("🐢🔥")).toEqual([])
  })

  it("stay when an administrator linked them to a store key and the owner replaces the linked records", async () => {
    await service.register("🐢🌊", owner)
    expect((await store("🐢🌊", admin.token, [expiry, text])).status).toBe(200)
    expect((await store("🐢🌊", owner.token, [])).status).toBe(200)
    expect(await tagsOf("🐢🌊")).toEqual(["0x0003"])
  })

  it.each([
    ["clears the other records", true, ["0x0003"]],
    ["keeps the other records", false, ["0x0003", "0x5001"]],
  ])(
    "after a transfer that %s: the pubkey of the former owner is gone, the expiry stays",
    async (_, clear, expected) => {
      const eid = clear ? "🐢🎲" : "🐢🎈"
      await service.register(eid, owner)
      await service.edit(eid, admin, { insert: [pubkey, expiry, text] })
      const { id } = (
        await service.call("POST", "/transfers", {
          token: owner.token,
          body: { eid, email: receiver.email, clear_on_transfer: clear },
        })
      ).body
      for (const [user, action] of [
        [owner, "sender_accept"],
        [receiver, "receiver_accept"],
      ] as const) {
        const code = await codeFor(service, user.email, id)
        const path = `/transfers/${id}/${action}`
        expect((await service.call("POST", path, { token: user.token, body: { code } })).status).toBe(200)
      }
      expect(await tagsOf(eid)).toEqual(expected)
    },
  )
})
