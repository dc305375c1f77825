import { beforeAll, expect, it } from "vitest"
import { Lookups } from "../../../src/directory/lookup/lookups.ts"
import { ViewCounter } from "../../../src/directory/lookup/view-counter.ts"
import type { TestUser } from "../../fixtures/service.ts"
import { bitcoin, type DirectoryService, serveDirectory } from "../directory-service.ts"

let service: DirectoryService
let owner: TestUser
beforeAll(async () => {
  service = await serveDirectory()
  owner = await service.user()
  for (const id of ["🚀🌊", "❤️👋"]) {
    await service.register(id, owner)
    await service.edit(id, owner, { insert: [{ tag: "0x1003", data: bitcoin }] })
  }
})

const lookUp = (emoji_ids: ReadonlyArray<string>) =>
  service.call("POST", "/emoji_id/lookup", { body: { emoji_ids } })
const isCached = (ids: ReadonlyArray<string>) =>
  service.runtime.runPromise(Lookups.useSync(({ cachedBatch }) => cachedBatch(ids) !== undefined))
const withoutTime = (text: string) => text.replace(/"finish_date":"[^"]*"/g, "")

const mixed = [
  "🚀🌊",
  "❤👋🏽", // another spelling of ❤️👋
  "🐙🐙🐙",
  'not "emoji"\\',
  "",
  "🚀🌊",
  "❤️👋",
]

it("a batch has the same answer from the cache as from the database", async () => {
  expect(await isCached(mixed)).toBe(false)
  const read = await lookUp(mixed)
  expect(read.status).toBe(200)
  expect(await isCached(mixed)).toBe(true)
  const cached = await lookUp(mixed)
  expect(cached.status).toBe(200)
  expect(withoutTime(cached.text)).toBe(withoutTime(read.text))
  expect(Object.fromEntries([...cached.headers].filter(([name]) => /^(content|cache)/.test(name)))).toEqual(
    Object.fromEntries([...read.headers].filter(([name]) => /^(content|cache)/.test(name))),
  )
  const results = cached.body.result as ReadonlyArray<{ emoji_id: string; error: { code: string } | null }>
  expect(results.map(({ emoji_id }) => emoji_id)).toEqual(mixed)
  expect(results.map(({ error }) => error?.code)).toEqual([
    undefined,
    undefined,
    "not_registered",
    "unsupported_emoji",
    "length",
    undefined,
    undefined,
  ])
})

it("an id that a batch names several times is counted as one view", async () => {
  const id = "🍎🌊"
  await service.register(id, owner)
  await lookUp([id])
  await lookUp([id, id, id])
  await service.runtime.runPromise(ViewCounter.use(({ flush }) => flush))
  const [row] = await service.sql<[{ views: number }]>`
    select views from emoji_id_view where canonical = ${id}`
  expect(row.views).toBe(2)
})

it("a batch after an edit has the new record", async () => {
  await lookUp(mixed)
  await service.edit("🚀🌊", owner, { insert: [{ tag: "0x4001", data: "https://example.com/new" }] })
  const { text } = await lookUp(["🚀🌊"])
  expect(text).toContain("https://example.com/new")
})
