import { randomUUID } from "node:crypto"
import type postgres from "postgres"
import { expect } from "vitest"
import type { Answer, CallOptions, TestService, TestUser } from "../../fixtures/service.ts"
import { noticesAreSent } from "../../history/pending-notices.ts"

export interface KeyedRequest {
  readonly method: string
  readonly path: string
  readonly options: CallOptions
  /** The status of the response, if it is not 200: the effect of the request is then also the refusal that it counts. */
  readonly status?: number
  /** Whether everything that the request does in the background is done. */
  readonly isSettled?: () => Promise<boolean>
}

/** Prepares what the request of a route needs, and returns a request that succeeds and changes something. */
export type Prepare = (service: TestService) => Promise<KeyedRequest>

/** Tables that a repeated request may change: they record that it was sent. */
const aboutRequests = new Set([
  "idempotency_key",
  "rate_window",
  "idempotency_quota",
  "migration",
  "function_file",
])

/**
 * Tables that the service changes by itself at any time: a queue that it empties, the leases of the processes, the
 * progress of the housekeeping, and the last uses of sessions.
 */
const changing = new Set([
  ...["freed_id", "cluster_member", "order_cleanup", "session_use"],
  ...["id_notice", "id_mail", "id_mail_turn"],
])

/**
 * Gives a key to every user without one. Tests store users without keys, and the service would give them keys in the
 * background, at any time.
 */
const giveKeys = (sql: postgres.Sql) => sql`
  insert into pubkey (pubkey, user_id)
  select md5(u.id::text) || md5('end' || u.id), u.id from app_user u
   where not exists (select 1 from pubkey k where k.user_id = u.id)`

/** The contents of all tables, without those that change by themselves. One statement reads them all. */
const contents = async (sql: postgres.Sql): Promise<Record<string, string>> => {
  const tables = await sql<Array<{ name: string }>>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind = 'r' order by 1`
  const parts = tables
    .filter(({ name }) => !aboutRequests.has(name) && !changing.has(name))
    .map(
      ({ name }) =>
        `select '${name}' as name,
                count(*) || ' rows, ' || coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as text
           from "${name}" t`,
    )
  const rows = await sql.unsafe<Array<{ name: string; text: string }>>(parts.join(" union all "))
  return Object.fromEntries(rows.map(({ name, text }) => [name, text]))
}

/** Makes the service unable to store responses, as if the process had died before it. The effects are still committed. */
const loseAnswers = (sql: postgres.Sql) =>
  sql.unsafe(
    `create or replace function lose_answer() returns trigger language plpgsql as $$
       begin raise exception using errcode = '57014', message = 'the response is lost'; end $$;
     create or replace trigger lose_answer before update on idempotency_key
       for each row when (new.status is not null) execute function lose_answer()`,
  )

const keepAnswers = (sql: postgres.Sql) => sql.unsafe("drop trigger if exists lose_answer on idempotency_key")

/** The body without what differs between two responses: the id of the request, and the time until an order expires. */
const comparable = ({ body, text }: Answer): unknown => {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body ?? text
  const { request_id: _id, seconds_until_expiry: _left, ...same } = body
  return same
}

/**
 * Sends a request with an Idempotency-Key, loses its stored response, and sends it again: to another process, if one is
 * given. Expects the same response, and that the second request changed nothing.
 */
export const repeatAfterLoss = async (
  service: TestService,
  { isSettled = async () => true, method, options, path, status = 200 }: KeyedRequest,
  retryAt: Pick<TestService, "call"> = service,
): Promise<Answer> => {
  const { sql } = service
  const keyed = { ...options, headers: { ...options.headers, "idempotency-key": randomUUID() } }
  await loseAnswers(sql)
  const first = await service.call(method, path, keyed)
  await keepAnswers(sql)
  expect([first.status, first.text]).toEqual([status, first.text])
  const [row] = await sql`select status, committed_at from idempotency_key order by created_at desc limit 1`
  expect(row).toMatchObject({ status: null })
  expect(row?.["committed_at"], "the effect was not committed together with the key").not.toBeNull()
  // As if the retry came later: the first attempt has two seconds to store its response.
  await sql`update idempotency_key set committed_at = committed_at - interval '1 minute' where status is null`
  await expect.poll(isSettled).toBe(true)
  await giveKeys(sql)
  await expect.poll(() => noticesAreSent(sql)).toBe(true)
  const before = await contents(sql)
  const second = await retryAt.call(method, path, keyed)
  expect([second.status, comparable(second)]).toEqual([first.status, comparable(first)])
  await expect.poll(() => noticesAreSent(sql)).toBe(true)
  expect(await contents(sql)).toEqual(before)
  const third = await retryAt.call(method, path, keyed)
  expect([third.status, third.text]).toEqual([second.status, second.text])
  return first
}

/**
 * Sends requests whose responses are not stored, as if the process had died before it. Afterwards their leases have
 * expired, so a retry makes the response from the outcome, or runs the request if it has none.
 */
export const losingAnswers = async <A>(
  { sql }: Pick<TestService, "sql">,
  send: () => Promise<A>,
): Promise<A> => {
  await loseAnswers(sql)
  const answer = await send()
  await keepAnswers(sql)
  await sql`update idempotency_key set leased_until = now() - interval '1 second' where status is null`
  return answer
}

/** Sends a request that must succeed, and returns the body of its response. */
export const done = async (
  service: TestService,
  { token }: Pick<TestUser, "token">,
  method: string,
  path: string,
  body?: unknown,
) => {
  const answer = await service.call(method, path, { token, ...(body === undefined ? {} : { body }) })
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}
