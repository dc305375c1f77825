import { isDeepStrictEqual } from "node:util"
import type postgres from "postgres"
import { type Answer, type CallOptions, request, type TestUser } from "../fixtures/service.ts"
import { until } from "../orders/shopper.ts"

export interface Views {
  readonly sql: postgres.Sql
  readonly users: ReadonlyArray<TestUser>
  readonly ids: ReadonlyArray<string>
}

const outOf = (answer: Answer, what: (body: Answer["body"]) => unknown): unknown =>
  answer.status === 200 ? what(answer.body) : answer.status

const availability: Readonly<Record<string, string>> = {
  owned: "Taken",
  transfer: "Taken",
  lootbox: "Taken",
  order: "InCart",
}

/** The answer that represents a request without a response. */
export const nowhere: Answer = { status: 503, headers: new Headers(), body: undefined, text: "" }

/** Repeats the request while the process responds with 503, which can happen on a busy machine. */
const ask = (url: string, options: CallOptions = {}): Promise<Answer> =>
  until(
    () => request(url, "GET", options).catch(() => nowhere),
    ({ status }) => status !== 503,
  )

interface StoredFacts {
  readonly lookups: Readonly<Record<string, unknown>>
  readonly held: Readonly<Record<string, string>>
  readonly owned: Readonly<Record<string, ReadonlyArray<string>>>
  readonly sent: Readonly<Record<string, ReadonlyArray<string>>>
}

/** Reads directly from the tables the facts that the responses of the service must show. */
const readStoredFacts = async ({ ids, sql, users }: Views): Promise<StoredFacts> => {
  const [row] = await sql<[{ truth: StoredFacts }]>`
    select jsonb_build_object(
      'lookups', (select coalesce(jsonb_object_agg(e.canonical, jsonb_build_object('version', e.version, 'records',
          (select coalesce(jsonb_agg(r.hash order by r.seq), '[]') from record r where r.canonical = e.canonical))), '{}')
          from emoji_id e where e.canonical = any(${[...ids]})),
      'held', (select coalesce(jsonb_object_agg(canonical, kind), '{}') from claim where canonical = any(${[...ids]})),
      'owned', (select coalesce(jsonb_object_agg(u, (select coalesce(jsonb_agg(e.canonical order by e.canonical), '[]')
          from emoji_id e where e.owner_id = u)), '{}') from unnest(${users.map(({ id }) => id)}::uuid[]) u),
      'sent', (select coalesce(jsonb_object_agg(u, (select coalesce(jsonb_agg(t.subject order by t.subject), '[]')
          from entity t where t.kind = 'transfer' and t.owner_id = u and t.status in ('AwaitingSender', 'AwaitingReceiver'))), '{}')
          from unnest(${users.map(({ id }) => id)}::uuid[]) u)) as truth`
  return row.truth
}

const sorted = (list: ReadonlyArray<string>) =>
  [...list].sort((a, b) => (Buffer.from(a) < Buffer.from(b) ? -1 : 1))

const compareWith = async (
  stored: StoredFacts,
  url: string,
  views: Views,
): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  const compare = (what: string, answered: unknown, expected: unknown) => {
    if (JSON.stringify(answered) === JSON.stringify(expected)) return
    found.push(`${what}: ${JSON.stringify(answered)} instead of ${JSON.stringify(expected)}`)
  }
  await Promise.all([
    ...views.ids.map(async (id) => {
      const path = encodeURIComponent(id)
      const lookup = await ask(`${url}/emoji_id/${path}`)
      const shown = outOf(lookup, ({ result, version }) => ({
        records: result.map(({ hash }: { hash: string }) => hash),
        version,
      }))
      compare(`lookup ${id}`, shown, stored.lookups[id] ?? 404)
      const { token } = views.users[0]!
      const search = await ask(`${url}/emoji_id/search?emoji_id=${path}`, { token })
      const expected = availability[stored.held[id] ?? ""] ?? "Available"
      compare(
        `search ${id}`,
        outOf(search, ({ result }) => result.availability),
        expected,
      )
    }),
    ...views.users.map(async ({ id, token }) => {
      const owned = await ask(`${url}/emoji_id`, { token })
      compare(`ids of ${id}`, outOf(owned, sorted), sorted(stored.owned[id] ?? []))
      const account = await ask(`${url}/account`, { token })
      const sent = (body: Answer["body"]) => sorted(body.pending_transfers)
      compare(`account of ${id}`, outOf(account, sent), sorted(stored.sent[id] ?? []))
    }),
  ])
  return found
}

/** Returns the differences between the responses of a process and the tables. */
export const findDisagreements = async (url: string, views: Views): Promise<ReadonlyArray<string>> => {
  const stored = await readStoredFacts(views)
  const found = await compareWith(stored, url, views)
  // If the tables changed during the comparison, for example because of a deadline, the comparison is repeated.
  return isDeepStrictEqual(stored, await readStoredFacts(views)) ? found : findDisagreements(url, views)
}
