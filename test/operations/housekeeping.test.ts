import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { expect, it } from "vitest"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { Tokens } from "../../src/accounts/sessions/tokens.ts"
import { masterKeys } from "../../src/config/secret-keys.ts"
import { deleteExpiredRows } from "../../src/operations/housekeeping.ts"
import { login, mails, register, someEmail } from "../accounts/person.ts"
import { serve, type TestService, testConfig } from "../fixtures/service.ts"

it("housekeeping deletes expired rows and keeps all other rows", async () => {
  const service = await serve()
  const [gone, kept] = [await register(service), await register(service)]
  await service.call("POST", "/logout", { token: gone.token })
  await service.sql`update entity set updated_at = now() - interval '3 days' where owner_id = ${gone.id}`
  await service.sql`update magic_link set expires_at = now() - interval '2 days' where email = ${gone.email}`
  await service.sql`insert into rate_window values ('old', 1, now() - interval '1 second'), ('new', 1, now() + interval '1 hour')`
  await service.sql`insert into sms_code values (${gone.id}, false, 'x', 0, null, now() - interval '2 days')`
  await service.sql`update outbox set sent_at = now() - interval '8 days' where recipient = ${gone.email}`
  await service.sql`insert into outbox (recipient, kind, payload, at, due_at)
    values (${gone.email}, 'given_up', 'never sent', now() - interval '31 days', 'infinity')`

  await service.runtime.runPromise(deleteExpiredRows)

  const left = async (query: Promise<ReadonlyArray<unknown>>) => (await query).length
  const { sql } = service
  expect(await left(sql`select 1 from entity where owner_id = ${gone.id}`)).toBe(0)
  expect(await left(sql`select 1 from magic_link where email = ${gone.email}`)).toBe(0)
  expect(await left(sql`select 1 from sms_code`)).toBe(0)
  expect(await mails(service, gone.email)).toEqual([])
  expect((await sql`select key from rate_window`).map(({ key }) => key)).toEqual(["new"])
  expect(await left(sql`select 1 from entity where owner_id = ${kept.id}`)).toBe(1)
  expect(await mails(service, kept.email)).toHaveLength(1)
  const { status } = await service.call("POST", "/auth/token/refresh", {
    body: { refresh_token: kept.refresh },
  })
  expect(status).toBe(200)
})

it("an access token of a revoked session stays invalid after housekeeping has deleted expired rows", async () => {
  const service = await serve({ ACCESS_TOKEN_SECONDS: String(7 * 86_400) }, { peersPossible: true })
  const person = await register(service)
  const refresh = (refresh_token: string) =>
    service.call("POST", "/auth/token/refresh", { body: { refresh_token } })
  await refresh((await refresh(person.refresh)).body.refresh_token)
  expect((await refresh(person.refresh)).status).toBe(401)
  await service.sql`update entity set updated_at = now() - interval '3 days' where owner_id = ${person.id}`
  await service.runtime.runPromise(deleteExpiredRows)
  await service.runtime.runPromise(CallerCache.use((callers) => callers.invalidating(person.id)(Effect.void)))
  expect((await service.call("GET", "/pubkeys", { token: person.token })).status).toBe(401)
})

it("an access token of a revoked session is invalid even if its lifetime is longer than the configured lifetime", async () => {
  const service = await serve()
  const person = await register(service)
  const keys = masterKeys(testConfig())
  const [, payload] = person.token.split(".")
  const { ep, role, sid, sub, iss: issuer } = JSON.parse(Buffer.from(payload!, "base64url").toString())
  const signedBefore = await Effect.runPromise(
    TestClock.setTime(Date.now() - 2 * 3_600_000).pipe(
      Effect.andThen(
        Tokens.use(({ sign }) => sign({ sub, sid, ep, role }, { kind: "access", ttlSeconds: 86_400 })),
      ),
      Effect.provide(Tokens.layer({ keys, issuer })),
      Effect.provide(TestClock.layer()),
    ),
  )
  await service.sql`update entity set status = 'Revoked', updated_at = now() - interval '1 hour'
                     where kind = 'session' and owner_id = ${person.id}`
  expect((await service.call("GET", "/pubkeys", { token: signedBefore })).status).toBe(401)
})

it("a login ends only the oldest sessions of a user who has too many sessions", async () => {
  const service = await serve()
  const person = await register(service)
  await service.call("POST", "/users", { body: { email: someEmail() } })
  await service.sql`update entity set updated_at = now() - interval '1 minute' where owner_id = ${person.id}`
  await service.sql`insert into entity (kind, id, version, turn, status, state, owner_id)
    select 'session', gen_random_uuid(), 1, gen_random_uuid(), status, state, owner_id
      from entity, generate_series(1, 200) where owner_id = ${person.id}`
  const again = await login(service, person.email)
  expect(again.status).toBe(200)
  const rows =
    await service.sql`select status, count(*)::int as n from entity where kind = 'session' group by 1 order by 1`
  expect(rows).toEqual([
    { status: "Revoked", n: 2 },
    { status: "Verified", n: 201 },
  ])
  const { status } = await service.call("POST", "/auth/token/refresh", {
    body: { refresh_token: person.refresh },
  })
  expect(status).toBe(401)
})

it("a login that ends the oldest sessions does not end a session that is refreshed at the same time", async () => {
  const service = await serve()
  const person = await register(service)
  const own = service.sql`kind = 'session' and owner_id = ${person.id}`
  await service.sql`update entity set updated_at = now() - interval '1 day' where ${own}`
  const [session] = await service.sql<[{ id: string }]>`select id from entity where ${own}`
  await service.sql`insert into entity (kind, id, version, turn, status, state, owner_id)
    select 'session', gen_random_uuid(), 1, gen_random_uuid(), status, state, owner_id
      from entity, generate_series(1, 200) where id = ${session.id}`
  const again = await service.sql.begin(async (q) => {
    // This update simulates a refresh in another process.
    await q`update entity set version = version + 1, turn = gen_random_uuid(), updated_at = now() where id = ${session.id}`
    const answer = login(service, person.email)
    await sleep(700)
    return { answer }
  })
  expect((await again.answer).status).toBe(200)
  const [row] = await service.sql`select status from entity where id = ${session.id}`
  expect(row?.["status"]).toBe("Verified")
})

it("housekeeping deletes all expired rows, even if it needs several batches", async () => {
  const service = await serve()
  const { sql } = service
  await sql`insert into idempotency_key (caller, key, request_hash, run, created_at)
            select 'session/x', n::text, '', gen_random_uuid(), now() - interval '2 days' from generate_series(1, 12000) n`
  await sql`insert into idempotency_key (caller, key, request_hash, run) values ('session/x', 'new', '', gen_random_uuid())`
  await sql`insert into outbox (recipient, kind, payload, sent_at)
            select 'x', 'login', '', now() - interval '8 days' from generate_series(1, 12000)`
  await service.runtime.runPromise(deleteExpiredRows)
  expect((await sql`select key from idempotency_key`).map(({ key }) => key)).toEqual(["new"])
  expect(await sql`select 1 from outbox limit 1`).toEqual([])
})

it("the metrics have the number of deleted rows, the age of the oldest row and the last run of each table", async () => {
  const service = await serve()
  await service.sql`insert into session_use values (gen_random_uuid(), now() - interval '31 days'), (gen_random_uuid(), now() - interval '29 days')`
  await service.runtime.runPromise(deleteExpiredRows)
  const { text } = await service.call("GET", "/metrics")
  const metric = (name: string) =>
    Number(new RegExp(`^${name}\\{[^}]*table="session_use"[^}]*\\} (\\S+)`, "m").exec(text)?.[1])
  expect(metric("pruned_rows_total")).toBeGreaterThanOrEqual(1)
  expect(Math.round(metric("pruned_oldest_row_seconds") / 86_400)).toBe(29)
  expect(metric("pruned_last_run_timestamp_seconds")).toBeGreaterThan(1.7e9)
})

it("rows that another process is deleting are skipped, so several processes can prune at the same time", async () => {
  const service = await serve()
  const { sql } = service
  await sql`insert into session_use select gen_random_uuid(), now() - interval '60 days' from generate_series(1, 50)`
  await sql.begin(async (q) => {
    await q`delete from session_use where session_id in (select session_id from session_use limit 20)`
    await service.runtime.runPromise(deleteExpiredRows)
    expect(await sql`select 1 from session_use`).toHaveLength(20)
  })
  expect(await sql`select 1 from session_use`).toHaveLength(0)
})

/** Simulates a statement timeout: a statement that deletes more than 5000 rows of one of these tables fails. */
const failLongDeletes = async (sql: TestService["sql"], tables: ReadonlyArray<string>) => {
  await sql.unsafe(`create function end_long() returns trigger language plpgsql as $$
    begin if (select count(*) from gone) > 5000 then raise exception 'too long'; end if; return null; end $$`)
  for (const table of tables)
    await sql.unsafe(`create trigger end_long after delete on ${table} referencing old table as gone
                      for each statement execute function end_long()`)
}

it("housekeeping deletes 12,000 expired rows of a table with statements of at most 5000 rows each", async () => {
  const service = await serve()
  const { sql } = service
  const { id } = await register(service)
  await sql`insert into oauth_client (client_id, secret_hash, name, redirect_uris) values ('app', '', 'app', '{http://x}')`
  await sql`insert into organization (id, name) values (${id}, 'partner')`
  const [n, old] = [sql`generate_series(1, 12000) n`, sql`now() - interval '30 days'`]
  await sql`insert into magic_link (token_hash, email, purpose, expires_at) select n, 'x', 'login', ${old} from ${n}`
  await sql`insert into authorization_code (jti, client_id, user_id, expires_at) select gen_random_uuid(), 'app', ${id}, ${old} from ${n}`
  await sql`insert into oauth_grant (id, client_id, user_id, emoji_id, epoch, expires_at)
            select gen_random_uuid(), 'app', ${id}, 'x', 0, ${old} from ${n}`
  await sql`insert into partner_visit (token_hash, organization_id, flow, sealed_state, expires_at)
            select n, ${id}, 'get', '', ${old} from ${n}`
  await sql`insert into rate_window (key, used, resets_at) select n, 1, ${old} from ${n}`
  const tables = ["magic_link", "authorization_code", "oauth_grant", "partner_visit", "rate_window"]
  await failLongDeletes(sql, tables)
  await service.runtime.runPromise(deleteExpiredRows)
  const left = await Promise.all(tables.map((table) => sql`select 1 from ${sql(table)}`))
  // The magic link of the user who registered above is still valid.
  expect(left.map(({ length }) => length)).toEqual([1, 0, 0, 0, 0])
})

it("messages that cannot be delivered do not prevent the deletion of old delivered messages", async () => {
  const service = await serve()
  const { sql } = service
  await sql`insert into outbox (recipient, kind, payload, at, due_at)
            select 'x', 'stuck', '', now() - interval '20 days', 'infinity' from generate_series(1, 5001)`
  await sql`insert into outbox (recipient, kind, payload, at, sent_at)
            select 'x', 'sent', '', now() - interval '9 days', now() - interval '8 days' from generate_series(1, 12000)`
  await sql`insert into outbox (recipient, kind, payload, sent_at) values ('x', 'new', '', now())`
  await sql`insert into sandbox_webhook (payload, due_at) select '', 'infinity' from generate_series(1, 5001)`
  await sql`insert into sandbox_webhook (payload, delivered_at)
            select '', now() - interval '8 days' from generate_series(1, 12000)`
  await sql`insert into sandbox_webhook (payload, delivered_at) values ('', now())`
  await service.runtime.runPromise(deleteExpiredRows)
  const left = await sql`select kind, count(*)::int as n from outbox group by 1 order by 1`
  expect(left).toEqual([
    { kind: "new", n: 1 },
    { kind: "stuck", n: 5001 },
  ])
  expect(
    await sql`select delivered_at is null as waits, count(*)::int as n from sandbox_webhook group by 1 order by 1`,
  ).toEqual([
    { waits: false, n: 1 },
    { waits: true, n: 5001 },
  ])
})

it("housekeeping deletes old view counts with statements of at most 5000 rows each", async () => {
  const { runtime, sql } = await serve()
  await sql`insert into emoji_id_view (canonical, day, views) select n, current_date - 57, 1 from generate_series(1, 12000) n`
  await sql`insert into emoji_id_view (canonical, day, views) values ('x', current_date - 56, 1)`
  await sql`insert into view_batch (process, number, at) select gen_random_uuid(), 1, now() - interval '2 days' from generate_series(1, 12000)`
  await failLongDeletes(sql, ["emoji_id_view", "view_batch"])
  await runtime.runPromise(deleteExpiredRows)
  const [views] = await sql`select max(canonical) as last, count(*)::int as n from emoji_id_view`
  expect(views).toEqual({ last: "x", n: 1 })
  expect(await sql`select 1 from view_batch where at < now() - interval '1 day'`).toEqual([])
})
