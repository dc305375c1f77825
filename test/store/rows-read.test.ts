import { expect, it } from "vitest"
import { PartnerVisits } from "../../src/services/partner-visits.ts"
import { Sql } from "../../src/store/sql.ts"
import { serve, type TestService } from "../fixtures/service.ts"

/** One connection, which can be made to tell what it has read. */
const serveAlone = () => serve({ POOL_SIZE: "1" })

/** Rows of a table that were opened to see what they hold; what an index says of them is not counted. */
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

it("visits that wait to be written are found among very many that bought nothing", async () => {
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
  const token = await runtime.runPromise(visits.admit(id, "get", { addresses: [] }, undefined))
  const [order] = await sql<[{ id: string }]>`select id from entity limit 1`
  await runtime.runPromise(visits.ordered(token, order.id))
  const look = async () =>
    expect((await runtime.runPromise(visits.unwritten)).map(({ orderId }) => orderId)).toEqual([order.id])
  expect(await rowsOpened(service, "partner_visit", look)).toBe(1)
  expect(await rowsOpened(service, "entity", look)).toBeLessThan(5)
})
