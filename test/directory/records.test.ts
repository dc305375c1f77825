import { generateKeyPairSync, sign } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { normalizeRecord, type RecordInput, RecordRefused } from "../../schema/directory/records/record.ts"
import { merkleRoot } from "../../src/directory/merkle.ts"
import { expectContract } from "../fixtures/contract.ts"
import type { TestUser } from "../fixtures/service.ts"
import {
  bitcoin,
  type DirectoryService,
  emojiId,
  ethereum,
  otherBitcoin,
  serveDirectory,
} from "./directory-service.ts"

let service: DirectoryService
let owner: TestUser
let other: TestUser
beforeAll(async () => {
  service = await serveDirectory()
  owner = await service.user()
  other = await service.user()
})

const names = [
  "🐶",
  "🐱",
  "🐭",
  "🐰",
  "🦊",
  "🐻",
  "🐼",
  "🐨",
  "🐯",
  "🦁",
  "🐮",
  "🐷",
  "🐸",
  "🐔",
  "🐺",
  "🐴",
  "🦄",
  "🐧",
]
let used = 0
/** Registers an id that no other test uses, and returns it. */
const newId = async (whose = owner, pubkey?: string): Promise<string> => {
  const text = `🚀${names[used++]}`
  await service.register(text, whose, pubkey)
  return text
}

const hashOf = (text: string, input: RecordInput): string => {
  const record = normalizeRecord(input, emojiId(text))
  if (record instanceof RecordRefused) throw new Error(record.message)
  return record.hash
}
const records = async (text: string): Promise<ReadonlyArray<{ tag: string; data: string; hash: string }>> =>
  (await service.lookup(text)).body.result
const data = async (text: string) => (await records(text)).map((record) => record.data)
const webUrl = { tag: "0x4001", data: "https://example.com/a" }

describe("an edit", () => {
  it("adds records, returns the changed id and increases the version", async () => {
    const id = await newId()
    expect((await service.lookup(id)).body).toMatchObject({ status: true, result: [], version: 1 })
    const answer = await service.edit(id, owner, {
      insert: [{ tag: "0x1003", data: bitcoin }, { tag: "0x1004", data: ethereum }, webUrl],
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual([id])
    const { body } = await service.lookup(id)
    expectContract("LookupResponse", body)
    expect(body).toMatchObject({ status: true, error: null, version: 2 })
    expect(body.result).toEqual([
      { tag: "0x1003", data: bitcoin, hash: hashOf(id, { tag: "0x1003", data: bitcoin }) },
      {
        tag: "0x1004",
        data: ethereum.slice(2).toLowerCase(),
        hash: hashOf(id, { tag: "0x1004", data: ethereum }),
      },
      { ...webUrl, hash: hashOf(id, webUrl) },
    ])
  })

  it("deletes the records with the given hashes, written in upper or lower case and with or without 0x", async () => {
    const id = await newId()
    const texts = ["a", "b", "c"].map((text) => ({ tag: "0x5001", data: text }))
    await service.edit(id, owner, { insert: texts })
    const [a, b] = texts.map((text) => hashOf(id, text))
    const answer = await service.edit(id, owner, { delete: [a, `0x${b?.toUpperCase()}`, a] })
    expect(answer.body).toEqual([id])
    expect(await data(id)).toEqual(["c"])
  })

  it("that deletes an unknown record changes nothing", async () => {
    const id = await newId()
    await service.edit(id, owner, { insert: [webUrl] })
    const answer = await service.edit(id, owner, {
      delete: [hashOf(id, webUrl), "0".repeat(64)],
      insert: [{ tag: "0x5001", data: "x" }],
    })
    expect(answer.status).toBe(422)
    expect(answer.body.fields.delete[0].code).toBe("unknown_hash")
    expect((await service.lookup(id)).body).toMatchObject({ version: 2, result: [webUrl] })
  })

  it("that adds an existing record is rejected with 422, unless the same edit deletes the record", async () => {
    const id = await newId()
    await service.edit(id, owner, { insert: [webUrl] })
    const again = await service.edit(id, owner, { insert: [webUrl] })
    expect(again.status).toBe(422)
    expect(again.body.fields.insert[0].code).toBe("uniqueness")
    const twice = { tag: "0x5001", data: "twice" }
    expect((await service.edit(id, owner, { insert: [twice, twice] })).status).toBe(422)
    const moved = await service.edit(id, owner, { delete: [hashOf(id, webUrl)], insert: [webUrl] })
    expect(moved.status).toBe(200)
  })

  it("without inserts and deletes changes nothing", async () => {
    const id = await newId()
    expect((await service.edit(id, owner, {})).body).toEqual([])
    expect((await service.edit(id, owner, { insert: null, delete: [] })).body).toEqual([])
    expect((await service.lookup(id)).body.version).toBe(1)
  })

  it("replaces the old record of a category that allows only one value", async () => {
    const id = await newId()
    const nick = (text: string) => ({ tag: "0x0005", data: text })
    await service.edit(id, owner, { insert: [{ tag: "0x1003", data: bitcoin }, nick("one"), webUrl] })
    await service.edit(id, owner, { insert: [{ tag: "0x1003", data: otherBitcoin }, nick("two")] })
    expect(await data(id)).toEqual([webUrl.data, otherBitcoin, "two"])
    await service.edit(id, owner, { insert: [nick("three"), nick("four")] })
    expect(await data(id)).toEqual([webUrl.data, otherBitcoin, "four"])
  })

  it("with `bypass_single_restrictions` keeps several records of a category that normally allows one value", async () => {
    const id = await newId()
    const insert = [bitcoin, otherBitcoin].map((address) => ({ tag: "0x1003", data: address }))
    await service.edit(id, owner, { insert, bypass_single_restrictions: true })
    expect(await data(id)).toEqual([bitcoin, otherBitcoin])
  })

  it("replaces an older generic crypto record with the same ticker", async () => {
    const id = await newId()
    const coin = (text: string) => ({ tag: "0x3fff", data: text })
    await service.edit(id, owner, { insert: [coin("ABC|abc-1"), coin("XYZ|xyz-1")] })
    await service.edit(id, owner, { insert: [coin("abc|abc-2")] })
    expect(await data(id)).toEqual(["XYZ|xyz-1", "abc|abc-2"])
  })

  const inserting = (tag: unknown, data?: unknown) => ({ insert: [{ tag, data }] })
  it.each([
    ["a tag without 0x", 400, inserting("1003", "x")],
    ["no data", 400, inserting("0x1003")],
    ["inserts that are not a list", 400, { insert: "x" }],
    ["a hash that is not a string", 400, { delete: [1] }],
    ["a merkle root that is not a hash", 400, { merkle_root: "zz" }],
    ["a body that is not an object", 400, [1]],
    ["an invalid Bitcoin address", 422, inserting("0x1003", "not-an-address")],
    ["an Ethereum address with a wrong checksum", 422, inserting("0x1004", ethereum.replace("d8d", "D8d"))],
    ["a redirect to a script", 422, inserting("0x0004", "javascript:alert(1)")],
    ["an unknown tag", 422, inserting("0x7000", "x")],
    ["empty data", 422, inserting("0x5001", "")],
    ["too much data", 422, inserting("0x5001", "x".repeat(4097))],
    ["the display modifiers of another id", 422, inserting("0x0001", "🐶🐶🐶")],
  ])("with %s returns %i", async (_, status, body) => {
    const id = "🚀🌊"
    if ((await service.lookup(id)).status === 404) await service.register(id, owner)
    const answer = await service.edit(id, owner, body)
    expect(answer.status).toBe(status)
    expect(answer.body.error).toEqual(expect.any(String))
    expect((await service.lookup(id)).body.version).toBe(1)
  })

  it("that exceeds the maximum number of records is rejected as a whole", async () => {
    const id = await newId()
    const texts = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({ tag: "0x5001", data: `text ${from + i}` }))
    for (const from of [0, 100]) await service.edit(id, owner, { insert: texts(from, 100) })
    const over = await service.edit(id, owner, { insert: texts(200, 57) })
    expect(over.status).toBe(422)
    expect(over.body.fields.insert[0].code).toBe("too_many")
    expect((await service.edit(id, owner, { insert: texts(200, 56) })).status).toBe(200)
    expect(await data(id)).toHaveLength(256)
  })

  it("emits one event on the channel of the id", async () => {
    const id = await newId()
    await service.edit(id, owner, { insert: [webUrl] })
    const events =
      await service.sql`select type, data from event where channel = ${`emoji_id:${id}`} order by "offset"`
    expect(events.map(({ type }) => type)).toEqual(["emoji_id.registered", "emoji_id.records"])
    expect(events[1]?.["data"]).toEqual({
      emoji_id: id,
      version: 2,
      inserted: [hashOf(id, webUrl)],
      deleted: [],
    })
  })

  it("of a nickname replaces the old nickname and increases the version, even among twenty simultaneous edits", async () => {
    const id = await newId()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        service.edit(id, owner, { insert: [{ tag: "0x0005", data: `nick ${i}` }] }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await data(id)).toHaveLength(1)
    expect((await service.lookup(id)).body.version).toBe(21)
  })

  it("is accepted or rejected regardless of simultaneous edits of other ids", async () => {
    const [full, strange, ...fine] = names.map((name) => `🌵${name}`) as [string, string, ...Array<string>]
    for (const id of [full, ...fine]) await service.register(id, owner)
    await service.register(strange, other)
    await service.sql`insert into record (canonical, hash, tag, data)
      select ${full}, n::text, ${0x5001}, 'text ' || n from generate_series(1, 256) n`
    const edits = [full, strange, "🌵🌵🌵", ...fine, ...fine, full, ...fine]
    const rounds = new Map<string, number>()
    const answers = await Promise.all(
      edits.map((id) => {
        const round = (rounds.get(id) ?? 0) + 1
        rounds.set(id, round)
        // The third edit of an id inserts the same record as the second edit.
        return service.edit(id, owner, { insert: [{ tag: "0x5001", data: `note ${Math.min(round, 2)}` }] })
      }),
    )
    const statuses = (id: string) => answers.filter((_, i) => edits[i] === id).map(({ status }) => status)
    expect(statuses(full)).toEqual([422, 422])
    expect(statuses(strange)).toEqual([403])
    expect(statuses("🌵🌵🌵")).toEqual([404])
    for (const id of fine) {
      expect(statuses(id).toSorted()).toEqual([200, 200, 422])
      expect((await data(id)).toSorted()).toEqual(["note 1", "note 2"])
      expect((await service.lookup(id)).body.version).toBe(3)
    }
    expect(await data(full)).toHaveLength(256)
  })
})

describe("permission to edit", () => {
  it("is not given to a user who is not the owner, or to a caller without authentication", async () => {
    const id = await newId()
    const stranger = await service.edit(id, other, { insert: [webUrl] })
    expect(stranger.status).toBe(403)
    expect(stranger.body).toMatchObject({ code: "forbidden", scope: "adminEmoji:write" })
    expect((await service.call("PATCH", `/emoji_id/${id}`, { body: {} })).status).toBe(401)
    expect((await service.edit("🌊🌊🌊🌊", owner, { insert: [webUrl] })).status).toBe(404)
    expect((await service.edit("x", owner, { insert: [webUrl] })).body.code).toBe("unsupported_emoji")
  })

  it("is given to an admin", async () => {
    const id = await newId()
    expect((await service.edit(id, service.admin, { insert: [webUrl] })).status).toBe(200)
  })

  it("is given to the user of the id's key, and to owners and controllers of the key's organization", async () => {
    const [organization] = await service.sql<[{ id: string }]>`
      insert into organization (name) values ('Wallet maker') returning id`
    const holder = await service.user()
    const pubkey = "ab".repeat(32)
    await service.sql`insert into pubkey (pubkey, user_id, organization_id)
                      values (${pubkey}, ${holder.id}, ${organization.id})`
    const id = await newId(holder, pubkey)
    const roles = ["OrgOwner", "OrgController", "OrgMember"] as const
    const statuses = []
    for (const role of roles) {
      const member = await service.user()
      await service.sql`insert into organization_member (organization_id, user_id, role)
                        values (${organization.id}, ${member.id}, ${role})`
      const answer = await service.edit(id, member, { insert: [{ tag: "0x5001", data: role }] })
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([200, 200, 403])

    await service.sql`update emoji_id set owner_id = ${other.id} where canonical = ${id}`
    expect((await service.edit(id, holder, { insert: [webUrl] })).status).toBe(200)
  })
})

describe("a merkle root", () => {
  const text = { tag: "0x5001", data: "signed" }

  it("must match the records after the edit", async () => {
    const id = await newId()
    await service.edit(id, owner, { insert: [webUrl, { tag: "0x0005", data: "old" }] })
    const nick = { tag: "0x0005", data: "new" }
    const wrong = await service.edit(id, owner, { insert: [nick], merkle_root: "0".repeat(64) })
    expect(wrong.status).toBe(422)
    expect(wrong.body.fields.merkle_root[0].code).toBe("mismatch")
    const root = merkleRoot([hashOf(id, webUrl), hashOf(id, nick)])
    const right = await service.edit(id, owner, { insert: [nick], merkle_root: `0x${root}` })
    expect(right.status).toBe(200)
    const [stored] = await service.sql`select merkle_root from emoji_id where canonical = ${id}`
    expect(stored?.["merkle_root"]).toBe(root)
    await service.edit(id, owner, { insert: [text] })
    const [after] = await service.sql`select merkle_root from emoji_id where canonical = ${id}`
    expect(after?.["merkle_root"]).toBeNull()
  })

  it("must be signed with the key that the id is bound to", async () => {
    const pair = generateKeyPairSync("ed25519")
    const pubkey = pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex")
    await service.sql`insert into pubkey (pubkey, user_id) values (${pubkey}, ${owner.id})`
    const id = await newId(owner, pubkey)
    const root = merkleRoot([hashOf(id, text)])
    const signed = sign(null, Buffer.from(root, "hex"), pair.privateKey).toString("hex")
    const body = { insert: [text], merkle_root: root }
    const statuses = []
    for (const signature of [undefined, "0".repeat(128), signed]) {
      statuses.push((await service.edit(id, owner, { ...body, signature })).status)
    }
    expect(statuses).toEqual([422, 422, 200])
    const alone = await service.edit(id, owner, { insert: [webUrl], signature: signed })
    expect(alone.status).toBe(422)
  })
})

describe("the display format of an id", () => {
  it("has the skin tones of the newest display modifiers record, and a lookup accepts any skin tones", async () => {
    await service.register("👋🙏🏿", owner)
    await service.edit("👋🙏", owner, { insert: [{ tag: "0x0001", data: "👋🏽🙏🏻" }] })
    const ids = await service.call("GET", "/emoji_id", { token: owner.token })
    expect(ids.body).toContain("👋🏽🙏🏻")
    const { result } = (await service.lookup("👋🏿🙏🏿")).body
    expect(result.map(({ data }: { data: string }) => data)).toEqual(["👋🙏🏿", "👋🏽🙏🏻"])
  })
})
