import { randomBytes } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import type { TestUser } from "../../fixtures/service.ts"
import { bitcoin, type DirectoryService, otherBitcoin, serveDirectory } from "../directory-service.ts"

/**
 * These tests run two processes with one database. After one process has acknowledged a change, the other process must
 * show it.
 */

let one: DirectoryService
let other: DirectoryService
let owner: TestUser
beforeAll(async () => {
  one = await serveDirectory({}, { peersPossible: true })
  other = await serveDirectory({}, { database: one.database, peersPossible: true })
  owner = await one.user()
  await one.register("🐙🐙", owner)
})

const nick = async (service: DirectoryService) =>
  (await service.lookup("🐙🐙")).body.result.map((record: { data: string }) => record.data)

describe("a lookup in any process shows every acknowledged change", () => {
  it("while the id is looked up continuously", async () => {
    let done = false
    const readers = [one, other, other].map(async (service) => {
      while (!done) expect((await service.lookup("🐙🐙")).status).toBe(200)
    })
    for (let round = 0; round < 25; round++) {
      const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one]
      const data = `nick ${round}`
      const answer = await writer.edit("🐙🐙", owner, { insert: [{ tag: "0x0005", data }] })
      expect(answer.status).toBe(200)
      expect(await nick(reader)).toEqual([data])
      expect(await nick(writer)).toEqual([data])
    }
    done = true
    await Promise.all(readers)
  })

  it("of payment addresses", async () => {
    const path = `/emoji_id/${encodeURIComponent("🐙🐙")}/payment`
    for (const address of [bitcoin, otherBitcoin, bitcoin]) {
      await one.edit("🐙🐙", owner, { insert: [{ tag: "0x1003", data: address }] })
      for (const service of [other, one, other, one]) {
        expect((await service.call("GET", path)).body.result["0x1003"].address).toBe(address)
      }
    }
  })

  it("when an id is registered and removed", async () => {
    for (let round = 0; round < 5; round++) {
      expect((await other.lookup("🐙🐶")).status).toBe(404)
      expect((await other.lookup("🐙🐶")).status).toBe(404)
      await one.register("🐙🐶", owner)
      expect((await other.lookup("🐙🐶")).status).toBe(200)
      const path = `/emoji_id/${encodeURIComponent("🐙🐶")}`
      const answer = await one.call("DELETE", path, { token: one.admin.token })
      expect(answer.status).toBe(200)
    }
  })

  it("when a write to the JSON store changes the linked records", async () => {
    await other.lookup("🐙🐙")
    const path = `/emoji_id/${encodeURIComponent("🐙🐙")}/json/SvcPageData`
    const linked_tags = [{ tag: "0x5001", data: "linked" }]
    await one.call("POST", path, { token: owner.token, body: { data: {}, linked_tags } })
    expect(await nick(other)).toContain("linked")
    expect((await other.call("GET", path)).body.data).toEqual({})
  })
})

it("a lookup shows a change made by another process that cannot open new database connections", async () => {
  const { database, sql } = one
  if ("url" in database) throw new Error("the test database is reached by its socket")
  const role = `known_${randomBytes(4).toString("hex")}`
  await sql.unsafe(`create role ${role} superuser login`)
  const host = encodeURIComponent(database.socketDir)
  const url = `postgres://${role}@localhost:${database.port}/${database.database}?host=${host}`
  const refused = await serveDirectory({}, { database: { url }, peersPossible: true })
  await refused.edit("🐙🐙", owner, { insert: [{ tag: "0x0005", data: "before" }] })
  await sql.unsafe(`alter role ${role} nologin`)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
             where usename = ${role} and (query ilike 'listen%' or query ilike '%pg_notify%')`
  for (const data of ["one", "two", "three"]) {
    for (let i = 0; i < 3; i++) await other.lookup("🐙🐙")
    const answer = await refused.edit("🐙🐙", owner, { insert: [{ tag: "0x0005", data }] })
    expect(answer.status).toBe(200)
    expect(await nick(other)).toContain(data)
  }
  await sql.unsafe(`alter role ${role} login`)
})
