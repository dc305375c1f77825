import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Effect, ManagedRuntime } from "effect"
import { afterAll, expect, it } from "vitest"
import { emojis } from "../../schema/directory/emoji.ts"
import { parseCommand } from "../../src/cli/command-line/parse.ts"
import { commands } from "../../src/cli/commands.ts"
import { csvRow } from "../../src/cli/csv.ts"
import { cliServices } from "../../src/cli/services.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { startCli } from "../fixtures/program.ts"
import { serve, testConfig } from "../fixtures/service.ts"
import { joined } from "../live/protocol-service.ts"

const service = await serve({}, { peersPossible: true })
const { call, database, sql } = service
const runtime = ManagedRuntime.make(cliServices(testConfig(), database))
const folder = mkdtempSync(join(tmpdir(), "ids-import-"))
afterAll(async () => {
  await runtime.dispose()
  rmSync(folder, { recursive: true, force: true })
})

const plain = [...new Set(emojis.map(({ canonical }) => canonical))]
let used = 0
/** Ids of five emoji that no other test uses. */
const freshIds = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, () => {
    let n = used++
    let id = "🐙🐙"
    for (let place = 0; place < 3; place++) {
      id += plain[n % plain.length]!
      n = Math.floor(n / plain.length)
    }
    return id
  })

let files = 0
const fileOf = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const path = join(folder, `${++files}.csv`)
  writeFileSync(path, rows.map(csvRow).join(""))
  return path
}
const importFile = (file: string, ...flags: ReadonlyArray<string>) => {
  const parsed = parseCommand(["ids", "import", file, ...flags], commands)
  if (!("input" in parsed) || !("run" in parsed.command)) throw new Error(JSON.stringify(parsed))
  return runtime.runPromise(
    parsed.command.run(parsed.input) as Effect.Effect<Record<string, unknown>, never, never>,
  )
}
const errorsOf = (file: string) => readFileSync(`${file}.errors.csv`, "utf8").trim().split("\n").slice(1)
const lookUp = (id: string) => call("GET", `/emoji_id/${encodeURIComponent(id)}`)
const versionOf = async (id: string) =>
  (await sql`select version, source, owner_id from emoji_id where canonical = ${id}`)[0]

it("imported ids are found by a running service, with their records, and their subscribers get the events", async () => {
  const owner = await service.user()
  const [id = "", toned = "👍🏿🐙🐢"] = freshIds(1)
  expect((await lookUp(id)).status).toBe(404)
  const client = await liveSocket(service.url)()
  client.send({ type: "connect" })
  await joined(client, `emoji_id:${id}`)
  const records = JSON.stringify([{ tag: "0x4001", data: "https://example.com/a,b" }])
  const file = fileOf([
    ["emoji_id", "user_id", "source", "records"],
    [id, owner.id, "old-registry", records],
    [toned, owner.id, "", ""],
  ])
  expect(await importFile(file)).toEqual({ lines: 2, imported: 2, present: 0, refused: 0, dry_run: false })
  const { body, status } = await lookUp(id)
  expect(status).toBe(200)
  expect(JSON.stringify(body)).toContain("https://example.com/a,b")
  expect(await versionOf(id)).toEqual({ version: 2, source: "import:old-registry", owner_id: owner.id })
  const first = await client.take({ type: "event" })
  const second = await client.take({ type: "event" })
  expect([first, second].map((f) => [f.offset, f.event, f.data.version])).toEqual([
    [1, "emoji_id.registered", 1],
    [2, "emoji_id.records", 2],
  ])
  client.close()
  const { body: owned } = await call("GET", "/emoji_id", { token: owner.token })
  expect(JSON.stringify(owned)).toContain(toned)
  const search = await call("GET", `/emoji_id/search?emoji_id=${encodeURIComponent(id)}`, {
    token: owner.token,
  })
  expect(search.body.result.availability).toBe("Taken")
})

it("a second run imports nothing again, and does not undo later changes", async () => {
  const owner = await service.user()
  const ids = freshIds(3)
  const file = fileOf([["emoji_id", "email"], ...ids.map((id) => [id, owner.email])])
  await sql`update app_user set email_verified_at = now() where id = ${owner.id}`
  expect(await importFile(file)).toMatchObject({ imported: 3, present: 0 })
  await call("PATCH", `/emoji_id/${encodeURIComponent(ids[0]!)}`, {
    token: owner.token,
    body: { insert: [{ tag: "0x5001", data: "mine" }] },
  })
  expect(await importFile(file)).toMatchObject({ imported: 0, present: 3, refused: 0 })
  expect(await versionOf(ids[0]!)).toMatchObject({ version: 2 })
  const channels = ids.map((id) => `emoji_id:${id}`)
  const [events] = await sql`select count(*)::int as n from event where channel = any(${channels})`
  expect(events).toEqual({ n: 4 })
})

it("refused lines are listed in the error file with their line and reason, and the other lines are imported", async () => {
  const [owner, other] = [await service.user(), await service.user()]
  const unproven = "unproven@example.com"
  await call("POST", "/users", { body: { email: unproven, password: "correct horse battery" } })
  const [a = "", b = "", c = "", d = "", e = "", f = ""] = freshIds(6)
  await importFile(
    fileOf([
      ["emoji_id", "user_id"],
      [a, other.id],
    ]),
  )
  const file = fileOf([
    ["emoji_id", "user_id", "email", "pubkey", "records"],
    [a, owner.id, "", "", ""],
    ["x🐙", owner.id, "", "", ""],
    [b, "", "", "", ""],
    [b, "", "unknown@example.com", "", ""],
    [b, "", unproven, "", ""],
    [b, owner.id, "", "", '[{"tag":"0x1003","data":"nonsense"}]'],
    [c, owner.id, "", "ab", ""],
    [d, "not-a-uuid", "", "", ""],
    [e, owner.id, "", "", "{"],
    [f, owner.id],
    [b, owner.id, "", "", ""],
    [b, owner.id, "", "", ""],
    [b, other.id, "", "", ""],
  ])
  const result = await importFile(file)
  expect(result).toMatchObject({
    lines: 13,
    imported: 1,
    present: 1,
    refused: 11,
    errors: `${file}.errors.csv`,
  })
  const codes = errorsOf(file).map((line) => [Number(line.split(",")[0]), line.split(",")[2]] as const)
  expect([...codes].sort(([a], [b]) => a - b)).toEqual([
    [2, "taken"],
    [3, "invalid"],
    [4, "invalid"],
    [5, "no_user"],
    [6, "unproven"],
    [7, "invalid"],
    [8, "no_pubkey"],
    [9, "invalid"],
    [10, "invalid"],
    [11, "invalid"],
    [14, "taken"],
  ])
  expect(readFileSync(`${file}.errors.csv`, "utf8")).toContain("valid Bitcoin address")
  expect(await versionOf(b)).toMatchObject({ owner_id: owner.id })
})

it("a dry run reports the same lines and writes nothing", async () => {
  const owner = await service.user()
  const [id = ""] = freshIds(1)
  const file = fileOf([
    ["emoji_id", "user_id"],
    [id, owner.id],
    ["?", owner.id],
  ])
  expect(await importFile(file, "--dry-run")).toMatchObject({ imported: 1, refused: 1, dry_run: true })
  expect(await versionOf(id)).toBeUndefined()
  expect(existsSync(`${file}.errors.csv`)).toBe(true)
})

it.each([
  [["emoji_id", "owner"], 'Unknown column "owner" in line 1'],
  [["emoji_id"], "Line 1 must name the columns emoji_id, and email or user_id"],
  [["emoji_id", "email", "email"], "A column occurs twice"],
])("a file with the columns %j is refused", async (header, message) => {
  await expect(importFile(fileOf([header]))).rejects.toThrow(message)
})

it("an import that is killed in the middle continues when it is run again, and does nothing twice", async () => {
  const owner = await service.user()
  const ids = freshIds(3000)
  const file = fileOf([
    ["emoji_id", "user_id", "source", "records"],
    ...ids.map((id) => [id, owner.id, "killed", '[{"tag":"0x5001","data":"imported"}]']),
  ])
  const imported = async () =>
    (await sql<[{ n: number }]>`select count(*)::int as n from emoji_id where source = 'import:killed'`)[0].n
  const url =
    "url" in database
      ? database.url
      : `postgres://postgres@localhost:${database.port}/${database.database}?host=${database.socketDir}`
  const program = startCli(["ids", "import", file], { DATABASE_URL: url })
  await expect.poll(imported, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0)
  program.kill()
  await program.ended
  await expect
    .poll(
      () =>
        sql`select 1 from pg_stat_activity where query like '%import_emoji_ids%' and pid <> pg_backend_pid()`,
    )
    .toHaveLength(0)
  const before = await imported()
  expect(before).toBeLessThan(ids.length)
  expect(await importFile(file)).toMatchObject({ imported: ids.length - before, present: before, refused: 0 })
  const [stored] = await sql`
    select count(*)::int as ids, count(*) filter (where e.version = 2 and c."offset" = 2 and l.kind = 'owned')::int as right,
           (select count(*)::int from record r where r.data = 'imported') as records
      from emoji_id e join channel c on c.name = 'emoji_id:' || e.canonical join claim l on l.canonical = e.canonical
     where e.source = 'import:killed'`
  expect(stored).toEqual({ ids: ids.length, right: ids.length, records: ids.length })
})
