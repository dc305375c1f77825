import type postgres from "postgres"
import { expect } from "vitest"

/** The invariants of ids, orders and money. Each query returns the rows that violate the invariant. */
const offences: Record<string, string> = {
  "an owned claim without a registered id of the same owner, or a registered id without an owned claim": `
    select coalesce(c.canonical, e.canonical) as id
      from (select * from claim where kind in ('owned', 'transfer')) c
      full join emoji_id e on e.canonical = c.canonical
     where c.canonical is null or e.canonical is null or c.owner_id <> e.owner_id`,
  "a hold of an order that does not wait for its payment, or that does not list the id": `
    select c.canonical as id from claim c left join entity o on o.kind = 'order' and o.id = c.holder
     where c.kind = 'order' and (o.status is distinct from 'PendingPayment'
        or not exists (select 1 from jsonb_array_elements(o.state->'context'->'items') i where i->>'claim' = c.canonical))`,
  "a pending order that does not hold each of its ids": `
    select o.id from entity o, jsonb_array_elements(o.state->'context'->'items') i
     where o.kind = 'order' and o.status = 'PendingPayment' and i->>'claim' is not null
       and not exists (select 1 from claim c where c.canonical = i->>'claim' and c.holder = o.id)`,
  "a paid order with an id that this order did not register to its buyer": `
    select o.id from entity o, jsonb_array_elements(o.state->'context'->'items') i
     where o.kind = 'order' and o.status = 'Paid' and i->>'type' = 'EmojiId' and not i ? 'released'
       and not exists (select 1 from emoji_id e where e.canonical = i->>'claim'
                          and e.owner_id = o.owner_id and e.source = 'order:' || o.id)`,
  "an id in two paid orders": `
    select i->>'claim' as id from entity o, jsonb_array_elements(o.state->'context'->'items') i
     where o.kind = 'order' and o.status = 'Paid' and i->>'type' = 'EmojiId' and not i ? 'released' group by 1 having count(*) > 1`,
  "a user with two open orders": `
    select owner_id as id from entity where kind = 'order' and status in ('Draft', 'PendingPayment')
     group by 1 having count(*) > 1`,
  "a paid order that received less than its total": `
    select o.id from entity o where o.kind = 'order' and o.status = 'Paid'
       and (select coalesce(sum((p->>'cents')::bigint), 0) from jsonb_array_elements(o.state->'context'->'payments') p)
         < (select sum((i->>'cents')::bigint) from jsonb_array_elements(o.state->'context'->'items') i)`,
  "a payment of the sandbox that is booked twice": `
    select p.id from sandbox_payment p join journal j on j.reference = 'sandbox:' || p.id group by p.id having count(*) > 1`,
  "a code that is used more often than allowed, or whose count differs from its recorded uses": `
    select c.id from code c where c.uses > c.max_uses
        or c.uses <> (select coalesce(sum(count), 0) from code_use u where u.code_id = c.id)`,
  "a user with more free ids than allowed": "select id from app_user where free_used > free_limit",
}

export const expectInvariants = async (sql: postgres.Sql) => {
  for (const [name, query] of Object.entries(offences)) {
    expect({ [name]: await sql.unsafe(query) }).toEqual({ [name]: [] })
  }
  expect(await sql`select ledger_audit() as cents`).toEqual([{ cents: 0 }])
  expect(await sql`select coalesce(sum(cents), 0)::int as cents from ledger_line`).toEqual([{ cents: 0 }])
}
