import { randomUUID } from "node:crypto"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { Users } from "../../src/accounts/user-store.ts"
import { Bus } from "../../src/cluster/bus.ts"
import { AppConfig } from "../../src/config/read-config.ts"
import { makeReadLookups } from "../../src/directory/lookup/lookup-store.ts"
import { deleteExpiredRows } from "../../src/operations/housekeeping.ts"
import { Orders } from "../../src/orders/order-store.ts"
import { connect } from "../../src/postgres/client.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { createDatabase } from "../fixtures/database.ts"
import { testConfig } from "../fixtures/service.ts"
import { commitBatch, type Facts } from "../fixtures/turns.ts"

const turns = 300
const alone = Bus.layer({ link: undefined, leaseMs: 2000, renewMs: 500, markMs: 10_000, statementMs: 1000 })

it("a turn reads only its own entity and ledger lines, even with query plans made while the tables were empty", async () => {
  const connection = await createDatabase()
  const sql = connect({ connection, poolSize: 1, statementTimeoutMs: 30_000 })
  const owner = randomUUID()
  const commit = ({ ledger, ...facts }: Facts & Record<string, unknown>) =>
    commitBatch(sql, [facts], ledger === undefined ? {} : { ledger })
  const turn = async (n: number) => {
    const id = randomUUID()
    const columns = { id, state: { value: "Paid", context: {} }, owner_id: owner, status: "Paid" }
    await commit({ ...columns, expected: 0 })
    const booked = (account: string, cents: number) => ({
      order_id: id,
      account,
      cents,
      reference: `fact ${n}`,
    })
    await commit({
      ...columns,
      expected: 1,
      ledger: [booked("funds:sandbox", 100), booked("sales", -100)],
    })
    await sql`select version from entity where kind = ${"order"} and id = ${id}`
  }
  for (let n = 0; n < turns; n++) await turn(n)
  // While the table has one page, it does not matter which index is used.
  await sql`select pg_stat_force_next_flush()`
  await sql`select pg_stat_reset()`
  for (let n = turns; n < 2 * turns; n++) await turn(n)
  await sql`select pg_stat_force_next_flush()`
  const read = await sql<Array<{ name: string; tuples: number }>>`
    select relname as name, (coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as tuples
      from pg_stat_user_tables where relname in ('entity', 'journal', 'ledger_line')`
  // The numbers above do not include rows that an index scan skips, so the used index is checked too.
  const used = await sql<Array<{ name: string }>>`
    select indexrelname as name from pg_stat_user_indexes where relname = 'entity' and idx_scan > 0`
  await sql.end()
  expect(used.map(({ name }) => name)).toEqual(["entity_pkey"])
  expect(read).toHaveLength(3)
  for (const { name, tuples } of read) expect([name, tuples <= 5 * turns]).toEqual([name, true])
})

it("granting an id does not read more users, keys and channels when these tables grow", async () => {
  const connection = await createDatabase()
  const sql = connect({ connection, poolSize: 1, statementTimeoutMs: 30_000 })
  for (let n = 0; n < turns; n++) {
    // Turns sequential scans off while the test inserts its own rows. Otherwise the foreign key checks of these inserts
    // could use sequential scans, and the test would count their rows.
    await sql`set enable_seqscan = off`
    const [owner] = await sql<
      [{ id: string }]
    >`insert into app_user (email) values (${`${n}@x.example`}) returning id`
    await sql`insert into pubkey (pubkey, user_id) values (${`key ${n}`}, ${owner.id})`
    await sql`insert into channel (name, "offset") values (${`emoji_id:id ${n}`}, 1)`
    await sql`reset enable_seqscan`
    const grant = { canonical: `id ${n}`, owner_id: owner.id, pubkey: `key ${n}`, source: "admin" }
    await sql`select put_grants(${JSON.stringify([grant])}::text::jsonb)`
  }
  await sql`select pg_stat_force_next_flush()`
  const read = await sql<Array<{ name: string; tuples: number }>>`
    select relname as name, seq_tup_read::int as tuples
      from pg_stat_user_tables where relname in ('app_user', 'pubkey', 'channel')`
  const [ids] = await sql`select count(*)::int as all, min(version)::int as version from emoji_id`
  await sql.end()
  expect(ids).toEqual({ all: turns, version: 2 })
  expect(read).toHaveLength(3)
  for (const { name, tuples } of read) expect([name, tuples <= 5 * turns]).toEqual([name, true])
})

it("a lookup and a read of claims use indexes, even with query plans made while the tables were small", async () => {
  const connection = await createDatabase()
  const options = { connection, poolSize: 1, statementTimeoutMs: 30_000 }
  const sql = connect(options)
  const [owner] = await sql<[{ id: string }]>`
    insert into app_user (email, password_hash) values ('owner@example.com', 'none') returning id`
  const [read, requested] = await Effect.gen(function* () {
    const { rows } = yield* Sql
    const readLookups = yield* makeReadLookups
    const orders = yield* Orders
    let requested = 0
    for (let stored = 0; stored < 4_000; stored += 200) {
      yield* Effect.promise(
        () => sql`with id as (select 'id' || n as canonical from generate_series(${stored}::int, ${stored + 199}::int) n),
                       claimed as (insert into claim (canonical, kind, holder, owner_id)
                                   select canonical, 'owned', ${owner.id}, ${owner.id} from id)
                  insert into emoji_id (canonical, owner_id, source) select canonical, ${owner.id}, 'demo' from id`,
      )
      for (let length = 1; length <= 10; length++) {
        const canonicals = Array.from({ length }, (_, i) => `id${stored + i * length}`)
        expect((yield* readLookups(canonicals)).size).toBe(length)
        expect((yield* orders.held(canonicals)).size).toBe(length)
        requested += length
      }
    }
    yield* rows((q) => q`select pg_stat_force_next_flush()`)
    const tuples = yield* rows<{ name: string; tuples: number }>(
      (q) => q`
        select relname as name, (coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as tuples
          from pg_stat_user_tables where relname in ('emoji_id', 'claim') order by 1`,
    )
    return [tuples, requested] as const
  }).pipe(
    Effect.provide(
      Orders.layer.pipe(
        Layer.provideMerge(Users.layer),
        Layer.provide(alone),
        Layer.provideMerge(Sql.layer(options)),
      ),
    ),
    Effect.runPromise,
  )
  await sql.end()
  expect(read).toEqual([
    { name: "claim", tuples: requested },
    { name: "emoji_id", tuples: requested },
  ])
})

it("expired rows are found and deleted without a sequential scan of the tables", async () => {
  const connection = await createDatabase()
  const options = { connection, poolSize: 1, statementTimeoutMs: 30_000 }
  const sql = connect(options)
  await sql`insert into app_user (email) select n || '@example.com' from generate_series(1, 5000) n`
  await sql`insert into sms_code (user_id, for_setup, hash, expires_at) select id, false, 'x', now() from app_user`
  await sql`insert into oauth_client (client_id, secret_hash, name, redirect_uris) values ('app', '', 'app', '{http://x}')`
  await sql`insert into oauth_grant (id, client_id, user_id, emoji_id, epoch, expires_at)
            select id, 'app', id, 'x', 0, now() from app_user`
  await sql`insert into authorization_code (jti, client_id, user_id, grant_id, expires_at)
            select id, 'app', id, id, now() from app_user`
  await sql`with few as (select id from app_user limit 20),
                 sms as (update sms_code set expires_at = 'epoch' where user_id in (select id from few))
            update oauth_grant set expires_at = 'epoch' where id in (select id from few)`
  await sql`analyze`
  const readOf = () => sql`select relname as name, seq_tup_read::int as tuples from pg_stat_user_tables
                      where relname in ('authorization_code', 'oauth_grant', 'sms_code') order by 1`
  await sql`select pg_stat_force_next_flush()`
  const before = await readOf()
  await deleteExpiredRows.pipe(
    Effect.andThen(Sql.use(({ rows }) => rows((q) => q`select pg_stat_force_next_flush()`))),
    Effect.provide(Layer.merge(Sql.layer(options), Layer.succeed(AppConfig, testConfig()))),
    Effect.runPromise,
  )
  const after = await readOf()
  const left = await sql`select count(*)::int as grants from oauth_grant`
  await sql.end()
  expect(left).toEqual([{ grants: 4980 }])
  expect(after).toEqual(before)
})
