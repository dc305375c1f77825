import type postgres from "postgres"

/** The invariants of the tables. Each query returns the rows that violate the invariant. */
const offences: Readonly<Record<string, string>> = {
  "an owned claim and the registration disagree": `
    select coalesce(c.canonical, e.canonical) as what from emoji_id e
      full join (select * from claim where kind in ('owned', 'transfer')) c on c.canonical = e.canonical
     where e.canonical is null or c.canonical is null or c.owner_id is distinct from e.owner_id`,
  "an owned claim is not held by its owner": `
    select canonical as what from claim where kind = 'owned' and holder is distinct from owner_id`,
  "a transfer's claim has no active transfer": `
    select c.canonical as what from claim c where c.kind = 'transfer' and not exists (
      select 1 from entity e where e.kind = 'transfer' and e.id = c.holder and e.subject = c.canonical
         and e.owner_id = c.owner_id and e.status in ('AwaitingSender', 'AwaitingReceiver'))`,
  "an active transfer has no claim": `
    select e.subject as what from entity e where e.kind = 'transfer' and e.status in ('AwaitingSender', 'AwaitingReceiver')
       and not exists (select 1 from claim c where c.canonical = e.subject and c.kind = 'transfer' and c.holder = e.id)`,
  "a box's claim has no unopened box": `
    select c.canonical as what from claim c
     where c.kind = 'lootbox' and c.canonical not like 'lootbox:%' and not exists (
      select 1 from entity e where e.kind = 'lootbox' and e.id = c.holder and e.status in ('Draft', 'Available', 'Owned')
         and e.state->'context'->'ids' @> jsonb_build_array(jsonb_build_object('canonical', c.canonical)))`,
  "an unopened box has lost an id": `
    select i->>'canonical' as what from entity e, jsonb_array_elements(e.state->'context'->'ids') i
     where e.kind = 'lootbox' and e.status in ('Draft', 'Available', 'Owned') and not exists (
      select 1 from claim c where c.canonical = i->>'canonical' and c.kind = 'lootbox' and c.holder = e.id)`,
  "a box that is not on sale can be bought": `
    select e.id::text as what from entity e where e.kind = 'lootbox' and e.status <> 'Available'
       and not exists (select 1 from claim c where c.canonical = 'lootbox:' || e.id)`,
  "a box was opened, or a transfer accepted, twice": `
    select channel || ' ' || type as what from event
     where type in ('lootbox.opened', 'transfer.accepted') and (channel like 'transfer:%' or channel like 'lootboxes:%')
     group by channel, type, data->>'id' having count(*) > 1`,
  "an opened box's ids were not registered": `
    select i->>'canonical' as what from entity e, jsonb_array_elements(e.state->'context'->'ids') i
     where e.kind = 'lootbox' and e.status = 'Used' and not exists (
      select 1 from event v where v.channel = 'emoji_id:' || (i->>'canonical') and v.type = 'emoji_id.registered')`,
  "an order's claim has no order that holds it": `
    select c.canonical as what from claim c where c.kind = 'order' and not exists (
      select 1 from entity e where e.kind = 'order' and e.id = c.holder
         and (e.status = 'PendingPayment' or (e.status = 'Paid' and c.canonical like 'lootbox:%'))
         and e.state->'context'->'items' @> jsonb_build_array(jsonb_build_object('claim', c.canonical)))`,
  "a pending order has lost an id": `
    select i->>'claim' as what from entity e, jsonb_array_elements(e.state->'context'->'items') i
     where e.kind = 'order' and e.status = 'PendingPayment' and i ? 'claim' and not exists (
      select 1 from claim c where c.canonical = i->>'claim' and c.kind = 'order' and c.holder = e.id)`,
  "an id is in two paid orders without having been destroyed in between": `
    select s.canonical as what from (
      select i->>'claim' as canonical, count(*) as sales from entity e, jsonb_array_elements(e.state->'context'->'items') i
       where e.kind = 'order' and e.status = 'Paid' and i->>'type' = 'EmojiId' group by 1) s
     where s.sales > 1 + (select count(*) from event v
       where v.channel = 'emoji_id:' || s.canonical and v.type = 'emoji_id.released')`,
  "a channel has a hole": `
    select c.name as what from channel c
     where c."offset" <> (select count(*) from event v where v.channel = c.name)
        or c."offset" <> (select coalesce(max(v."offset"), 0) from event v where v.channel = c.name)`,
}

/** Returns all violations of the invariants. */
export const findOffences = async (sql: postgres.Sql): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const [name, query] of Object.entries(offences)) {
    const rows = await sql.unsafe<{ what: string }[]>(query)
    for (const { what } of rows) found.push(`${name}: ${what}`)
  }
  return found
}
