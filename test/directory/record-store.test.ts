import { randomUUID } from "node:crypto"
import { Cause, Effect, Exit } from "effect"
import type { Sql as Client } from "postgres"
import { afterAll, beforeAll, expect, it } from "vitest"
import { CurrentOperation, type Operation, Written } from "../../actors/operation.ts"
import { maxRecordsPerId } from "../../schema/directory/edit-request.ts"
import { type EditOutcome, makeEditRecords, type RecordEdit } from "../../src/directory/record-store.ts"
import { connect } from "../../src/postgres/client.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { createDatabase } from "../fixtures/database.ts"
import { waiting } from "../fixtures/waiting.ts"

const note = "0x5001"
/** The tag of a single-value category: a new record replaces the old one. */
const name = "0x0002"
const owner = randomUUID()
const permission = { userId: owner, organizations: [], isAdmin: false, mayUpdateSecureData: false }

let options: Parameters<typeof connect>[0]
let sql: Client
beforeAll(async () => {
  options = { connection: await createDatabase(), poolSize: 1, statementTimeoutMs: 20_000 }
  sql = connect(options)
  await sql`insert into app_user (id, email, password_hash) values (${owner}, 'owner@example.com', 'none')`
})
afterAll(() => sql.end())

let made = 0
const makeId = async () => {
  const canonical = `id-${made++}`
  await sql`insert into claim (canonical, kind, holder, owner_id) values (${canonical}, 'owned', ${owner}, ${owner})`
  await sql`insert into emoji_id (canonical, owner_id, source) values (${canonical}, ${owner}, 'demo')`
  return canonical
}

const record = (data: string, tag = note) => ({ tag, data, hash: `hash of ${data}` })
const editOf = (canonical: string, parts: Partial<RecordEdit> = {}): RecordEdit => ({
  canonical,
  permission,
  insert: [],
  delete: [],
  bypass: false,
  ...parts,
})

/**
 * Sends all edits simultaneously. The first edit gets a statement of its own, and the other edits share the next
 * statement.
 */
const editAll = (edits: ReadonlyArray<RecordEdit>): Promise<ReadonlyArray<EditOutcome>> =>
  Effect.gen(function* () {
    const editRecords = yield* makeEditRecords
    return yield* Effect.forEach(edits, editRecords, { concurrency: "unbounded" })
  }).pipe(Effect.provide(Sql.layer(options)), Effect.runPromise)

const dataOf = async (canonical: string) => {
  const rows = await sql<Array<{ data: string }>>`
    select data from record where canonical = ${canonical} order by seq`
  return rows.map(({ data }) => data)
}
const toldOf = async (canonical: string) => {
  const rows = await sql<Array<{ offset: number; data: unknown }>>`
    select "offset", data from event where channel = ${`emoji_id:${canonical}`} order by "offset"`
  return rows.map(({ data, offset }) => ({ offset: Number(offset), data }))
}

it("edits that share an SQL statement are accepted or rejected independently of each other", async () => {
  const [first, fresh, lasting, renamed, entry, root, others, same, sparse, locked, old] = (await Promise.all(
    Array.from({ length: 11 }, makeId),
  )) as [string, string, string, string, string, string, string, string, string, string, string]
  const store = { key: "page", data: "{}", lockedFutureWritesAt: undefined, linked: true }
  await editAll(
    [lasting, renamed, entry, same].map((id) =>
      editOf(id, { insert: [record("before", name), record("kept")] }),
    ),
  )
  await editAll([editOf(entry, { insert: [record("linked before")], store })])
  await sql`insert into json_store (canonical, key, data, locked_future_writes_at)
            values (${locked}, 'page', 'was', now() - interval '1 hour')`

  const outcomes = await editAll([
    editOf(first, { insert: [record("alone")] }),
    editOf(fresh, { insert: [record("one"), record("two")] }),
    editOf(lasting, { insert: [record("kept")] }),
    editOf(renamed, { insert: [record("after", name)], delete: ["hash of kept"] }),
    editOf(entry, { insert: [record("linked after")], store }),
    editOf(root, { merkleRoot: "ab".repeat(32), signature: "cd", expected: 1 }),
    editOf(others, { insert: [record("stolen")], permission: { ...permission, userId: randomUUID() } }),
    editOf(same),
    editOf(sparse, { delete: ["none", "such"], insert: [record("lost")] }),
    editOf(locked, { store }),
    editOf(old, { insert: [record("late")], expected: 7 }),
    editOf("nobody's", { insert: [record("nowhere")] }),
  ])

  const changed = (canonical: string, version: number, offset: number, more = {}) => ({
    outcome: "changed",
    written: new Written({ rows: [{ version, ...more }], keep: undefined }),
    events: [{ channel: `emoji_id:${canonical}`, offset }],
  })
  const facts = { created_at: expect.any(String), updated_at: expect.any(String), is_locked: false }
  expect(outcomes).toEqual([
    changed(first, 2, 1),
    changed(fresh, 2, 1),
    { outcome: "duplicate", hashes: ["hash of kept"] },
    changed(renamed, 3, 2),
    changed(entry, 4, 3, { store: facts }),
    changed(root, 2, 1),
    { outcome: "forbidden" },
    { outcome: "unchanged" },
    { outcome: "unknown", hashes: ["none", "such"] },
    { outcome: "locked", at: expect.stringMatching(/^20.*Z$/) },
    { outcome: "stale" },
    { outcome: "absent" },
  ])
  expect(await Promise.all([fresh, lasting, renamed, entry, others, same, sparse, old].map(dataOf))).toEqual([
    ["one", "two"],
    ["before", "kept"],
    ["after"],
    ["before", "kept", "linked after"],
    [],
    ["before", "kept"],
    [],
    [],
  ])
  expect((await toldOf(renamed)).at(-1)).toEqual({
    offset: 2,
    data: {
      emoji_id: renamed,
      version: 3,
      inserted: ["hash of after"],
      deleted: expect.toSatisfy(
        (hashes: Array<string>) => hashes.toSorted().join() === "hash of before,hash of kept",
      ),
    },
  })
  expect((await toldOf(entry)).at(-1)?.data).toEqual({
    emoji_id: entry,
    version: 4,
    inserted: ["hash of linked after"],
    deleted: ["hash of linked before"],
    store_key: "page",
  })
  const channels = [fresh, renamed, entry, root].map((id) => `emoji_id:${id}`)
  const [together] = await sql`
    select count(distinct e.xmin::text)::int as statements
      from event e join channel c on c.name = e.channel and c."offset" = e."offset" where c.name = any(${channels})`
  expect(together).toEqual({ statements: 1 })
  for (const id of [others, sparse, locked, old]) expect(await toldOf(id)).toEqual([])
  const [stored] = await sql`select data from json_store where canonical = ${locked}`
  expect(stored).toEqual({ data: "was" })
  const [signed] = await sql`select merkle_root, signature from emoji_id where canonical = ${root}`
  expect(signed).toEqual({ merkle_root: "ab".repeat(32), signature: "cd" })
})

it("simultaneous edits of one id run one after the other", async () => {
  const [busy, id] = [await makeId(), await makeId()]
  const outcomes = await editAll([
    editOf(busy, { insert: [record("first")] }),
    ...["a", "b", "c"].map((data) => editOf(id, { insert: [record(data, name)] })),
    editOf(id, { insert: [record("c", name)] }),
  ])
  expect(
    outcomes.map((one) => ("written" in one ? one.written.outcome.rows[0]?.version : one.outcome)),
  ).toEqual([2, 2, 3, 4, "duplicate"])
  expect(await dataOf(id)).toEqual(["c"])
  expect((await toldOf(id)).map(({ offset }) => offset)).toEqual([1, 2, 3])
})

it("an edit that waits for another process's change of the id sees the result of that change", async () => {
  const [busy, expecting, repeating] = [await makeId(), await makeId(), await makeId()]
  const other = connect(options)
  let edited: Promise<ReadonlyArray<EditOutcome>> | undefined
  await other.begin(async (q) => {
    await q`update emoji_id set version = 2 where canonical in (${expecting}, ${repeating})`
    await q`insert into record (canonical, hash, tag, data) values (${repeating}, 'hash of same', 20481, 'same')`
    edited = editAll([
      editOf(busy),
      editOf(expecting, { insert: [record("late")], expected: 1 }),
      editOf(repeating, { insert: [record("same")] }),
    ])
    await expect.poll(() => waiting({ sql })).toHaveLength(1)
  })
  expect(await edited).toEqual([
    { outcome: "unchanged" },
    { outcome: "stale" },
    { outcome: "duplicate", hashes: ["hash of same"] },
  ])
  await other.end()
})

it("an edit that exceeds the record limit does not affect other edits in the same SQL statement", async () => {
  const [busy, full, other] = [await makeId(), await makeId(), await makeId()]
  const records = Array.from({ length: maxRecordsPerId }, (_, n) => record(`note ${n}`))
  await editAll([editOf(full, { insert: records })])
  const outcomes = await editAll([
    editOf(busy, { insert: [record("first")] }),
    editOf(full, { insert: [record("one too many")] }),
    editOf(other, { insert: [record("fine")] }),
  ])
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["changed", "crowded", "changed"])
  expect(await dataOf(full)).toHaveLength(maxRecordsPerId)
  expect(await dataOf(other)).toEqual(["fine"])
})

/** A request with an Idempotency-Key. `held` is the attempt that holds the key now. */
const operation = async (run: string, held = run): Promise<Operation> => {
  const key = randomUUID()
  await sql`insert into idempotency_key (caller, key, request_hash, run, leased_until)
            values ('someone', ${key}, 'hash', ${held}, now() + interval '1 minute')`
  return {
    caller: "someone",
    key,
    run,
    knowsOutcome: false,
    committed: undefined,
    seal: (value) => Effect.succeed(JSON.stringify(value)),
    afterCommit: Effect.void,
  }
}

it("an edit that has lost its Idempotency-Key changes nothing and does not affect other edits in the same SQL statement", async () => {
  const [busy, late, kept, same, plain] = await Promise.all([
    makeId(),
    makeId(),
    makeId(),
    makeId(),
    makeId(),
  ])
  const [lost, own, idle] = [
    await operation(randomUUID(), randomUUID()),
    await operation(randomUUID()),
    await operation(randomUUID()),
  ]
  const exits = await Effect.gen(function* () {
    const editRecords = yield* makeEditRecords
    const edit = (id: string, by?: Operation, insert = [record("new")]) =>
      Effect.exit(Effect.provideService(editRecords(editOf(id, { insert })), CurrentOperation, by))
    const edits = [edit(busy), edit(late, lost), edit(kept, own), edit(same, idle, []), edit(plain)]
    return yield* Effect.all(edits, { concurrency: "unbounded" })
  }).pipe(Effect.provide(Sql.layer(options)), Effect.runPromise)

  expect(
    exits.map((exit) => (Exit.isSuccess(exit) ? exit.value.outcome : Cause.squash(exit.cause))),
  ).toMatchObject(["changed", { _tag: "Unavailable" }, "changed", "unchanged", "changed"])
  expect(await dataOf(late)).toEqual([])
  expect(await dataOf(kept)).toEqual(["new"])
  const rows = await sql`
    select key, outcome_rows, committed_at is not null as committed from idempotency_key where caller = 'someone'`
  expect(Object.fromEntries(rows.map(({ key, ...row }) => [key, row]))).toEqual({
    [lost.key]: { outcome_rows: null, committed: false },
    [own.key]: { outcome_rows: [{ version: 2 }], committed: true },
    [idle.key]: { outcome_rows: null, committed: false },
  })
})
