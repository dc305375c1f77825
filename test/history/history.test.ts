import { beforeAll, describe, expect, it } from "vitest"
import { deleteExpiredRows } from "../../src/operations/housekeeping.ts"
import { bitcoin, type DirectoryService, ethereum, serveDirectory } from "../directory/directory-service.ts"
import type { TestUser } from "../fixtures/service.ts"
import { codeFor, grant, makeIds } from "../transfers/transfer-service.ts"

const nextId = makeIds(130_000)
let service: DirectoryService

beforeAll(async () => {
  service = await serveDirectory({ SWEEP_INTERVAL_MS: "60000" })
})

const pathOf = (id: string) => `/emoji_id/${encodeURIComponent(id)}/history`
const read = (id: string, reader?: TestUser, query = "") =>
  service.call("GET", `${pathOf(id)}${query}`, reader === undefined ? {} : { token: reader.token })
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
const entriesOf = async (id: string, reader?: TestUser): Promise<any[]> =>
  (await read(id, reader)).body.result
const kindsOf = async (id: string, reader?: TestUser) =>
  (await entriesOf(id, reader)).map(({ kind, version }) => [version, kind])
const registered = async (owner: TestUser) => {
  const id = nextId()
  await service.register(id, owner)
  return id
}
const transferTo = async (id: string, from: TestUser, to: TestUser, more = {}) => {
  const begun = await service.call("POST", "/transfers", {
    token: service.admin.token,
    body: { eid: id, email: to.email, force_transfer: true, ...more },
  })
  expect([begun.status, from.id]).toEqual([200, from.id])
  const accept = await service.call("POST", `/transfers/${begun.body.id}/receiver_accept`, {
    token: to.token,
    body: { code: await codeFor(service, to.email, begun.body.id) },
  })
  expect(accept.status).toBe(200)
}

describe("the history of an emoji id", () => {
  it("has version, kind and time for everyone, and what was changed for the owner", async () => {
    const [owner, stranger] = [await service.user(), await service.user()]
    const id = await registered(owner)
    await service.edit(id, owner, { insert: [{ tag: "0x1003", data: bitcoin }] })
    const { body } = await service.lookup(id)
    await service.edit(id, owner, {
      insert: [{ tag: "0x1004", data: ethereum }],
      delete: [body.result[0].hash],
    })
    await service.call("POST", `/emoji_id/${encodeURIComponent(id)}/json/VisualizerName`, {
      token: owner.token,
      body: { data: { name: "fox" } },
    })
    const merkle = await service.edit(id, owner, { merkle_root: "00".repeat(32) })
    expect(merkle.status).toBe(422)

    const kinds = [
      [4, "data"],
      [3, "records"],
      [2, "records"],
      [1, "registered"],
    ]
    for (const reader of [undefined, stranger]) {
      const answer = await read(id, reader)
      expect(answer.body).toMatchObject({ view: "public", version: 4 })
      expect(answer.text).not.toMatch(/changes|bc1q|0x1003/)
      expect(await kindsOf(id, reader)).toEqual(kinds)
    }
    expect((await read(id, owner)).headers.get("cache-control")).toBe("private, no-store")
    const entries = await entriesOf(id, owner)
    expect(entries.map(({ kind, version }) => [version, kind])).toEqual(kinds)
    expect(entries.map(({ changes }) => changes)).toMatchObject([
      { store_key: "VisualizerName" },
      { added: [{ tag: "0x1004" }], removed: [{ tag: "0x1003", data: bitcoin, hash: body.result[0].hash }] },
      { added: [{ tag: "0x1003", data: bitcoin, hash: body.result[0].hash }] },
      {},
    ])
  })

  it("has pages, linked in the header `Link`, and an ETag without credentials", async () => {
    const owner = await service.user()
    const id = await registered(owner)
    for (const data of ["a", "b", "c"]) await service.edit(id, owner, { insert: [{ tag: "0x5001", data }] })
    const first = await read(id, owner, "?limit=3")
    expect(first.body.result.map(({ version }: { version: number }) => version)).toEqual([4, 3, 2])
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? ""
    const second = await service.call("GET", next, { token: owner.token })
    expect(second.body.result).toMatchObject([{ version: 1, kind: "registered" }])
    expect(second.headers.get("link")).toMatch(/rel="prev"/)
    expect(second.headers.get("link")).not.toMatch(/rel="next"/)

    const etag = (await read(id)).headers.get("etag") ?? ""
    const ask = () => service.call("GET", pathOf(id), { headers: { "If-None-Match": etag } })
    expect((await ask()).status).toBe(304)
    await service.edit(id, owner, { insert: [{ tag: "0x5001", data: "d" }] })
    expect((await ask()).status).toBe(200)
    expect((await read(id, undefined, "?after=x")).status).toBe(400)
  })

  it("of an id that is not registered is 404, and it ends when the id is removed", async () => {
    const [owner, next] = [await service.user(), await service.user()]
    const id = await registered(owner)
    await service.edit(id, owner, { insert: [{ tag: "0x1003", data: bitcoin }] })
    const removed = await service.call("DELETE", `/emoji_id/${encodeURIComponent(id)}`, {
      token: service.admin.token,
    })
    expect(removed.status).toBe(200)
    expect((await read(id, owner)).status).toBe(404)
    expect((await read("fox")).status).toBe(400)
    await service.register(id, next)
    expect(await kindsOf(id, next)).toEqual([[4, "registered"]])
  })

  it("shows the new owner only details of the time since the transfer, and no person", async () => {
    const [former, owner] = [await service.user(), await service.user()]
    const id = await registered(former)
    await service.edit(id, former, { insert: [{ tag: "0x1003", data: bitcoin }] })
    await transferTo(id, former, owner, { clear_on_transfer: true })
    await service.edit(id, owner, { insert: [{ tag: "0x1004", data: ethereum }] })

    const answer = await read(id, owner)
    expect(answer.body.result.map(({ kind }: { kind: string }) => kind)).toEqual([
      "records",
      "owner",
      "records",
      "registered",
    ])
    expect(answer.body.result[1].changes).toEqual({
      owner: { before: "other", after: "current" },
      pubkey: { before: null, after: expect.any(String) },
    })
    expect(answer.body.result[2]).not.toHaveProperty("changes")
    for (const secret of [bitcoin, former.id, former.email, owner.id])
      expect(answer.text).not.toContain(secret)
    expect((await read(id, former)).body.view).toBe("public")
    expect((await read(id, former)).text).not.toContain("changes")
  })

  it("shows an owner who gets the id back the details of both times, but not those between them", async () => {
    const [owner, other] = [await service.user(), await service.user()]
    const id = await registered(owner)
    await service.edit(id, owner, { insert: [{ tag: "0x5001", data: "first" }] })
    await transferTo(id, owner, other, { clear_on_transfer: true })
    await service.sql`update emoji_id set blocked_until = null where canonical = ${id}`
    await service.edit(id, other, { insert: [{ tag: "0x5001", data: "between" }] })
    await transferTo(id, other, owner)
    const { text, body } = await read(id, owner)
    expect(text).toContain("first")
    expect(text).not.toContain("between")
    expect(body.result[2].changes).toMatchObject({
      owner: { before: "current", after: "other" },
      removed: [{ tag: "0x5001", data: "first" }],
    })
  })

  it("stays when expired rows are deleted, and loses personal data when its owner is erased", async () => {
    const [former, owner] = [await service.user(), await service.user()]
    const id = await registered(former)
    await service.edit(id, former, { insert: [{ tag: "0x5001", data: "of the former owner" }] })
    await transferTo(id, former, owner, { clear_on_transfer: true })
    await service.edit(id, owner, { insert: [{ tag: "0x5001", data: "of the owner" }] })
    await service.sql`update emoji_id_change set at = at - interval '20 years' where canonical = ${id}`
    await service.runtime.runPromise(deleteExpiredRows)
    const kinds = await kindsOf(id)
    expect(kinds).toHaveLength(4)

    const personal = async (user: TestUser, text: string) => {
      const rows = await service.sql`select 1 from emoji_id_change
        where ${user.id}::uuid in (owner_id, former_owner_id) or added::text like ${`%${text}`} or removed::text like ${`%${text}`}`
      return rows.length
    }
    const erase = (user: TestUser) =>
      service.call("DELETE", `/users/${user.id}`, { token: service.admin.token })
    expect(await personal(former, "of the former owner%")).toBeGreaterThan(0)
    expect((await erase(former)).status).toBe(200)
    expect(await personal(former, "of the former owner%")).toBe(0)
    expect((await read(id, owner)).text).toContain("of the owner")
    expect((await erase(owner)).status).toBe(200)
    expect(await personal(owner, "of the owner%")).toBe(0)
    expect(await service.sql`select 1 from id_notice where user_id in (${owner.id}, ${former.id})`).toEqual(
      [],
    )
    expect(await kindsOf(id)).toEqual(kinds)
  })

  it("of an id that is older than the history begins with what is known, and says since when it is complete", async () => {
    const owner = await service.user()
    const id = nextId()
    await grant(service, owner, id)
    const [start] = await service.sql<[{ at: string }]>`
      update emoji_id e set registered_at = s.at - interval '3 days', owner_changed_at = s.at - interval '2 days',
             minted_at = s.at - interval '1 day' from history_start s where e.canonical = ${id} returning s.at`
    await service.edit(id, owner, { insert: [{ tag: "0x5001", data: "new" }] })
    const { body } = await read(id, owner)
    expect(body.complete_since).toBe(new Date(start.at).toISOString())
    expect(await kindsOf(id)).toEqual([
      [2, "records"],
      [null, "minted"],
      [null, "owner"],
      [null, "registered"],
    ])
    const next = /<([^>]+)>; rel="next"/.exec(
      (await read(id, owner, "?limit=2")).headers.get("link") ?? "",
    )?.[1]
    expect((await service.call("GET", next ?? "")).body.result).toMatchObject([
      { kind: "owner" },
      { kind: "registered" },
    ])
  })

  it("shows details to an API key only with the scope to list ids", async () => {
    const owner = await service.user()
    const id = await registered(owner)
    const viewWith = async (scopes: ReadonlyArray<string>) => {
      const { body } = await service.call("POST", "/api_keys", {
        token: owner.token,
        body: { name: scopes.join(), scopes },
      })
      const answer = await service.call("GET", pathOf(id), { headers: { "X-Api-Key": body.api_key } })
      return answer.body.view
    }
    expect(await viewWith(["userEmoji:list"])).toBe("owner")
    expect(await viewWith(["userData:update"])).toBe("public")
    expect((await read(id, service.admin)).body.view).toBe("owner")
  })

  it("keeps the payment addresses of an edit that has too much data to keep all of it", async () => {
    const owner = await service.user()
    const id = await registered(owner)
    const long = Array.from({ length: 8 }, (_, n) => ({ tag: "0x5001", data: `${n}${"x".repeat(4000)}` }))
    await service.edit(id, owner, {
      insert: [...long, { tag: "0x1003", data: bitcoin }],
      bypass_single_restrictions: true,
    })
    const [{ changes }] = await entriesOf(id, owner)
    expect(changes.added).toHaveLength(9)
    expect(changes.added.at(-1)).toMatchObject({ tag: "0x1003", data: bitcoin })
    expect(changes.added.filter(({ data }: { data?: string }) => data === undefined)).toHaveLength(4)
  })
})
