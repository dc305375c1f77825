import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { LootboxLists } from "../../src/lootboxes/lootbox-store.ts"
import { makeCleanupStore } from "../../src/orders/cleanup-store.ts"
import { Orders } from "../../src/orders/order-store.ts"
import { PartnerVisits } from "../../src/partners/visits.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { serve, type TestService } from "../fixtures/service.ts"

/**
 * Starts a service with one connection, so that the statistics of one session show everything that the service reads.
 */
const serveAlone = () => serve({ POOL_SIZE: "1" })

/** Returns how many rows `work` reads from a table. Rows that are read only from an index do not count. */
const rowsOpened = async (
  { runtime, sql }: TestService,
  table: string,
  work: () => Promise<unknown>,
): Promise<number> => {
  const count = async () => {
    await runtime.runPromise(Sql.use(({ rows }) => rows((q) => q`select pg_stat_force_next_flush()`)))
    const [row] = await sql<[{ opened: number }]>`
      select (coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as opened
        from pg_stat_user_tables where relname = ${table}`
    return row.opened
  }
  const before = await count()
  await work()
  return (await count()) - before
}

it("partner visits with an order are found without reading the visits that have no order", async () => {
  const service = await serveAlone()
  const { runtime, sql } = service
  const { id } = await service.user()
  await sql`insert into organization (id, name) values (${id}, 'Wallet')`
  await sql`insert into partner_visit (token_hash, organization_id, flow, sealed_state, expires_at)
            select n, ${id}, 'get', '', now() + interval '1 hour' from generate_series(1, 10000) n`
  await sql`insert into entity (kind, id, version, turn, status, state, owner_id, updated_at)
            select 'order', gen_random_uuid(), 1, gen_random_uuid(), 'Paid', '{}', ${id}, now() - interval '1 day'
              from generate_series(1, 10000)`
  await sql`analyze`
  const visits = await runtime.runPromise(PartnerVisits)
  const token = await runtime.runPromise(visits.create(id, "get", { addresses: [] }, undefined))
  const [order] = await sql<[{ id: string }]>`select id from entity limit 1`
  await runtime.runPromise(visits.linkOrder(token, order.id))
  const look = async () =>
    expect((await runtime.runPromise(visits.listUnwritten)).map(({ orderId }) => orderId)).toEqual([order.id])
  expect(await rowsOpened(service, "partner_visit", look)).toBe(1)
  expect(await rowsOpened(service, "entity", look)).toBeLessThan(5)
})

it("a page of 20 lootboxes or 20 orders reads fewer than 50 rows, with each sort order", async () => {
  const service = await serveAlone()
  const { runtime, sql } = service
  const { id } = await service.user()
  await sql`insert into entity (kind, id, version, turn, status, state, owner_id)
            select kind, gen_random_uuid(), 1, gen_random_uuid(), status, jsonb_build_object('filler', repeat('x', 1500)), ${randomUUID()}
              from (values ('order', 'Paid'), ('lootbox', 'Used')) as x(kind, status), generate_series(1, 5000)`
  await sql`insert into entity (kind, id, version, turn, status, state, owner_id)
            select 'lootbox', gen_random_uuid(), 1, gen_random_uuid(), 'Owned', '{}', ${id} from generate_series(1, 3)`
  await sql`vacuum (analyze) entity`
  const page = { dir: "Desc", limit: 20, page: 0 } as const
  for (const sort of ["created_at", "updated_at"] as const) {
    const boxes = () =>
      runtime.runPromise(LootboxLists.use((lists) => lists.list({ visibleTo: id }, { ...page, sort })))
    // The statement runs often enough that the database stores a generic plan for it.
    for (let times = 0; times < 8; times++) expect((await boxes()).total.count).toBe(3)
    expect(await rowsOpened(service, "entity", boxes)).toBeLessThan(50)
    const paid = { userId: undefined, status: "Paid", holdsMoney: undefined } as const
    const orders = () => runtime.runPromise(Orders.use((lists) => lists.list(paid, { ...page, sort })))
    expect((await orders()).total.count).toBe(5000)
    expect(await rowsOpened(service, "entity", orders)).toBeLessThan(50)
  }
})

it("a part of the search for old cancelled orders reads only the orders of this part", async () => {
  const service = await serveAlone()
  const { runtime, sql } = service
  const { id } = await service.user()
  const nextPart = () =>
    runtime.runPromise(
      Effect.flatMap(makeCleanupStore, (store) =>
        store.nextPart({ maxOrders: 100, keepTrackingDays: 7, keepOrderDays: 90 }),
      ),
    )
  // The connection makes and caches its plans while the table is empty.
  for (let times = 0; times < 8; times++) {
    await sql`update order_cleanup set begun_at = '-infinity'`
    expect(await nextPart()).toEqual({ until: null, old: [] })
  }
  await sql`insert into entity (kind, id, version, turn, status, owner_id, created_at, state)
            select 'order', gen_random_uuid(), 1, gen_random_uuid(), case when n % 2 = 0 then 'Cancelled' else 'Paid' end, ${id},
                   now() - interval '100 days' + make_interval(secs => n),
                   '{"context": {"payments": [], "refunds": [], "cancelled": {"at": "2020-01-01T00:00:00.000Z"}}}'
              from generate_series(1, 20000) n`
  await sql`vacuum (analyze) entity`
  await sql`update order_cleanup set begun_at = '-infinity'`
  let found = 0
  const look = async () => {
    found = (await nextPart())?.old.length ?? 0
  }
  for (let times = 0; times < 3; times++) {
    expect(await rowsOpened(service, "entity", look)).toBeLessThan(500)
    expect(found).toBeGreaterThan(20)
  }
})

it("GET /admin/events for one kind reads only events of this kind", async () => {
  const service = await serveAlone()
  const { sql } = service
  const { token } = await service.user({ role: "Admin" })
  await sql`insert into event (channel, "offset", type, data, at)
            select 'cart:x', n, 'cart.changed', '{}', now() - make_interval(secs => 50000 - n) from generate_series(1, 45000) n`
  await sql`insert into event (channel, "offset", type, data, at)
            values ('rare:x', 1, 'rare.first', '{}', now() - interval '1 day'), ('rare:x', 2, 'other.second', '{}', now() - interval '20000 seconds'),
                   ('other:x', 1, 'rare.last', '{}', now() - interval '10000 seconds')`
  await sql`analyze event`
  const look = async (more: string) => {
    const { body } = await service.call("GET", `/admin/events?kind=rare&limit=2${more}`, { token })
    return body as { data: ReadonlyArray<{ event: string }>; before?: string; after: string }
  }
  const namesOf = ({ data }: { readonly data: ReadonlyArray<{ event: string }> }) =>
    data.map(({ event }) => event)
  const lookCheaply = async (more: string) => {
    let found: Awaited<ReturnType<typeof look>> | undefined
    const opened = await rowsOpened(service, "event", async () => {
      found = await look(more)
    })
    expect(opened).toBeLessThan(20)
    return found!
  }
  const newest = await lookCheaply("")
  expect(namesOf(newest)).toEqual(["rare.last", "other.second"])
  const rest = await lookCheaply(`&before=${newest.before}`)
  expect(rest).toMatchObject({ data: [{ event: "rare.first" }] })
  expect(rest.before).toBeUndefined()
  await sql`insert into event (channel, "offset", type, data) select 'cart:x', n, 'cart.changed', '{}' from generate_series(50001, 55000) n`
  expect(await lookCheaply(`&after=${newest.after}`)).toEqual({ data: [], after: newest.after })
  await sql`insert into event (channel, "offset", type, data) values ('rare:x', 3, 'rare.now', '{}')`
  expect(namesOf(await lookCheaply(`&after=${newest.after}`))).toEqual(["rare.now"])
})

it("deleting a user does not read the rows of all other users", async () => {
  const service = await serveAlone()
  const { sql } = service
  const { token } = await service.user({ role: "Admin" })
  const tables = ["magic_link", "payment_method", "api_key", "pubkey", "outbox", "interest_notice"]
  const leaving = await Promise.all(tables.map(() => service.user()))
  await sql`insert into app_user (email) select n || '@example.com' from generate_series(1, 5000) n`
  await sql`insert into magic_link (token_hash, user_id, email, purpose, expires_at)
            select id, id, email, 'login', now() + interval '1 hour' from app_user`
  await sql`insert into payment_method (id, user_id, provider, payment_type) select id, id, 'stripe', 'card' from app_user`
  await sql`insert into api_key (id, user_id, name, secret_hash, scopes) select id, id, 'x', 'x', '{}' from app_user`
  await sql`insert into pubkey (pubkey, user_id) select id, id from app_user`
  await sql`insert into outbox (recipient, kind, payload, sent_at) select email, 'login', '', now() from app_user`
  await sql`insert into interest_notice (user_id, canonical) select id, 'x' from app_user`
  await sql`analyze`
  const opened: Record<string, boolean> = {}
  for (const [n, table] of tables.entries()) {
    const remove = async () =>
      expect((await service.call("DELETE", `/users/${leaving[n]!.id}`, { token })).status).toBe(200)
    opened[table] = (await rowsOpened(service, table, remove)) < 50
  }
  expect(opened).toEqual(Object.fromEntries(tables.map((table) => [table, true])))
  const ids = leaving.map(({ id }) => id)
  expect(await sql`select 1 from magic_link where user_id = any(${ids})`).toEqual([])
  expect(await sql`select 1 from payment_method where user_id = any(${ids})`).toEqual([])
})
