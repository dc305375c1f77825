import { beforeAll, describe, expect, it } from "vitest"
import { expectAnswer, expectContract } from "../fixtures/contract.ts"
import type { TestUser } from "../fixtures/service.ts"
import { bitcoin, type DirectoryService, serveDirectory } from "./directory-service.ts"

const id = "🍕🍕"
const path = (key = "SvcPageData", of = id) => `/emoji_id/${encodeURIComponent(of)}/json/${key}`
let service: DirectoryService
let owner: TestUser
beforeAll(async () => {
  service = await serveDirectory()
  owner = await service.user()
  await service.register(id, owner)
})

const store = (body: unknown, key?: string, caller = owner) =>
  service.call("POST", path(key), { token: caller.token, body })
const load = (key?: string) => service.call("GET", path(key))

describe("a key of the JSON store", () => {
  it("that is unknown is rejected with an error that lists the known keys", async () => {
    const refused = await load("Profile")
    expect(refused.status).toBe(400)
    expect(refused.body.error).toBe(
      "path: key: expected one of SvcPageData, SvcLinkData, VisualizerData, VisualizerName, VisualizerFileLocations",
    )
  })

  it("that has no data returns an empty object, also without authentication", async () => {
    const answer = await load("VisualizerData")
    expect(answer.status).toBe(200)
    expectContract("LoadJsonResponse", answer.body)
    expect(answer.body).toMatchObject({ data: {}, is_locked: false })
  })

  it.each([
    [{ b: 1, a: [true, null, "ü🚀"], 2: {} }],
    ["text"],
    [[1, 2]],
    [null],
    [{ __proto__x: 1, constructor: "c" }],
  ])("returns %j as it was stored", async (data) => {
    const stored = await store({ data })
    expect(stored.status).toBe(200)
    // The contract declares `data` as an object, but the spec allows any JSON value. An empty object is therefore
    // checked in place of the data.
    expectContract("LoadJsonResponse", { ...stored.body, data: {} })
    expect((await load()).text).toContain(`"data":${JSON.stringify(data)}`)
  })

  it("keeps the order of the object members in its data, and a member called `__proto__`", async () => {
    const data = '{"z":1,"__proto__":{"x":1},"a":2}'
    await service.call("POST", path(), { token: owner.token, rawBody: `{"data":${data}}` })
    expect((await load()).text).toContain(data)
  })

  it.each(["9007199254740993", "[-9223372036854775808]", '{"a":18446744073709551615}', "1e400"])(
    "rejects %s, because the number cannot be stored exactly",
    async (data) => {
      await store({ data: "before" })
      const refused = await service.call("POST", path(), {
        token: owner.token,
        rawBody: `{"data":${data}}`,
      })
      expect([refused.status, refused.body.fields?.data[0].code]).toEqual([422, "inexact_number"])
      expect((await load()).body.data).toBe("before")
    },
  )

  it.each(["9007199254740991", "-0.1", "1e+300", '"9007199254740993"', '"\\"9007199254740993"'])(
    "returns %s unchanged",
    async (data) => {
      await service.call("POST", path(), { token: owner.token, rawBody: `{ "data" : ${data} }` })
      expect((await load()).text).toContain(`"data":${data},`)
    },
  )

  it("keeps `created_at` and never decreases `updated_at` when it is written a second time", async () => {
    const first = (await store({ data: 1 }, "VisualizerName")).body
    const second = (await store({ data: 2 }, "VisualizerName")).body
    expect(second.created_at).toBe(first.created_at)
    expect(Date.parse(second.updated_at)).toBeGreaterThanOrEqual(Date.parse(first.updated_at))
  })

  it.each([
    ["2026-02-30T00:00:00Z", 400, undefined],
    ["Sat, 07 Nov 2099 10:00:00 GMT", 200, "2099-11-07T10:00:00.000Z"],
    ["+275760-09-13T00:00:00.000Z", 400, undefined],
    ["-000001-01-01T00:00:00Z", 400, undefined],
  ])("written with `locked_future_writes_at` %s returns %i", async (date, status, at) => {
    await service.sql`delete from json_store where key = 'SvcLinkData'`
    const answer = await store({ data: 1, locked_future_writes_at: date }, "SvcLinkData")
    expect([answer.status, answer.body.locked_future_writes_at]).toEqual([status, at])
    await service.sql`delete from json_store where key = 'SvcLinkData'`
  })

  it("can be loaded together with other keys in one request", async () => {
    await store({ data: { page: 1 } })
    const answer = await service.call("GET", `/emoji_id/${id}/json?keys=SvcPageData,SvcLinkData`)
    expectAnswer("GET", "/emoji_id/{eid}/json", answer.body)
    expect(answer.body.SvcPageData.data).toEqual({ page: 1 })
    expect(answer.body.SvcLinkData.data).toEqual({})
    const repeated = await service.call("GET", `/emoji_id/${id}/json?keys=SvcPageData&keys=SvcLinkData`)
    expect(repeated.body).toEqual(answer.body)
  })

  it("must be one of the five known keys, and the emoji id must be registered", async () => {
    expect((await load("Other")).status).toBe(400)
    expect((await service.call("GET", `/emoji_id/${id}/json?keys=Other`)).status).toBe(400)
    expect((await service.call("GET", `/emoji_id/${id}/json?keys=`)).status).toBe(400)
    expect((await service.call("GET", `/emoji_id/${id}/json`)).status).toBe(400)
    expect((await service.call("GET", path("SvcPageData", "🍕🐶"))).status).toBe(404)
    expect((await service.call("GET", path("SvcPageData", "x"))).status).toBe(400)
  })

  it("can be written only by the owner of the emoji id and by admins", async () => {
    const stranger = await service.user()
    expect((await store({ data: 1 }, "SvcPageData", stranger)).status).toBe(403)
    expect((await service.call("POST", path(), { body: { data: 1 } })).status).toBe(401)
    expect((await store({ data: "by admin" }, "SvcPageData", service.admin)).status).toBe(200)
    expect((await store({})).status).toBe(400)
  })

  it("accepts at most 250 KB of data", async () => {
    const data = (bytes: number) => "x".repeat(bytes - 2)
    expect((await store({ data: data(250 * 1024) }, "SvcLinkData")).status).toBe(200)
    const over = await store({ data: data(250 * 1024 + 1) }, "SvcLinkData")
    expect(over.status).toBe(413)
    expect(over.body.code).toBe("body_too_large")
    expect((await store({ data: `${"é".repeat(125 * 1024 - 1)}x` }, "SvcLinkData")).status).toBe(413)
    expect((await load("SvcLinkData")).body.data).toHaveLength(250 * 1024 - 2)
  })

  it("with `locked_future_writes_at` accepts writes until that time, and later writes only from an admin", async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const locking = await store({ data: 1, locked_future_writes_at: soon }, "VisualizerData")
    expect(locking.body).toMatchObject({ is_locked: false, locked_future_writes_at: soon })
    expect((await store({ data: 2 }, "VisualizerData")).body.locked_future_writes_at).toBe(soon)
    const now = await store({ data: 3, locked_future_writes_at: "2020-01-01T00:00:00Z" }, "VisualizerData")
    expect(now.body.is_locked).toBe(true)
    const refused = await store({ data: 4 }, "VisualizerData")
    expect([refused.status, refused.body.code]).toEqual([409, "conflict"])
    expect((await load("VisualizerData")).body).toMatchObject({ data: 3, is_locked: true })
    expect((await store({ data: 5 }, "VisualizerData", service.admin)).status).toBe(200)
  })

  it("called `VisualizerFileLocations` accepts https URLs and rejects `javascript:` URLs", async () => {
    const files = { gif: "https://cdn.example/a.gif", webm: "https://cdn.example/a.webm" }
    expect((await store({ data: files }, "VisualizerFileLocations")).status).toBe(200)
    const script = await store({ data: { image: "javascript:alert(1)" } }, "VisualizerFileLocations")
    expect(script.status).toBe(422)
    expect((await load("VisualizerFileLocations")).body.data).toEqual(files)
  })
})

describe("the `linked_tags` of a write to the JSON store", () => {
  const text = (data: string) => ({ tag: "0x5001", data })
  const texts = async () =>
    (await service.lookup(id)).body.result.map((record: { data: string }) => record.data)

  it("replace the previously linked records and change no other record", async () => {
    await service.edit(id, owner, { insert: [text("own")] })
    await store({ data: 1, linked_tags: [text("a"), text("b")] })
    expect(await texts()).toEqual(["own", "a", "b"])
    await store({ data: 2, linked_tags: [text("b"), text("c")] })
    expect(await texts()).toEqual(["own", "b", "c"])
    await store({ data: 3 })
    expect(await texts()).toEqual(["own", "b", "c"])
    await store({ data: 4, linked_tags: [text("own")] }, "SvcLinkData")
    await store({ data: 5, linked_tags: [] })
    await store({ data: 6, linked_tags: [] }, "SvcLinkData")
    expect(await texts()).toEqual(["own"])
  })

  it("are removed only when no key of the JSON store links them any more", async () => {
    await store({ data: 1, linked_tags: [text("both"), text("page")] })
    await store({ data: 1, linked_tags: [text("both"), text("links")] }, "SvcLinkData")
    await store({ data: 2, linked_tags: [] })
    expect(await texts()).toEqual(["own", "both", "links"])
    await store({ data: 3, linked_tags: [text("both")] })
    await store({ data: 4, linked_tags: [] }, "SvcLinkData")
    expect(await texts()).toEqual(["own", "both"])
    await store({ data: 5, linked_tags: [] })
    expect(await texts()).toEqual(["own"])
  })

  it("add a Bitcoin address and increase the version of the id by one", async () => {
    const before = (await service.lookup(id)).body.version
    await store({ data: 1, linked_tags: [{ tag: "0x1003", data: bitcoin }] })
    const { body } = await service.lookup(id)
    expect(body.version).toBe(before + 1)
    expect(body.result.filter(({ tag }: { tag: string }) => tag === "0x1003")).toHaveLength(1)
  })

  it("that are not valid records cause the whole write to be rejected", async () => {
    const bad = await store({ data: "not stored", linked_tags: [{ tag: "0x1003", data: "nothing" }] })
    expect(bad.status).toBe(422)
    expect(bad.body.fields.linked_tags[0].code).toBe("invalid_address")
    expect((await load()).body.data).not.toBe("not stored")
  })
})
