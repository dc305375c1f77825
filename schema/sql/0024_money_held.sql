-- As before; and money in orders that bought nothing, which only its owner would ask for.
create or replace function user_holdings(who uuid) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'emoji_ids', (select coalesce(jsonb_agg(c.canonical order by c.canonical), '[]') from claim c where c.owner_id = who),
    'pending_orders', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                        where e.kind = 'order' and e.owner_id = who and e.status = 'PendingPayment'),
    'unspent_orders', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                        where e.kind = 'order' and e.owner_id = who and e.status in ('Draft', 'Cancelled')
                          and (select coalesce(sum((p->>'cents')::bigint), 0)
                                 from jsonb_array_elements(e.state->'context'->'payments') p)
                            > (select coalesce(sum((r->>'cents')::bigint), 0)
                                 from jsonb_array_elements(e.state->'context'->'refunds') r where r->>'status' <> 'Failed')),
    'active_transfers', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                          where e.kind = 'transfer' and (e.owner_id = who or e.peer_id = who)
                            and e.status in ('AwaitingSender', 'AwaitingReceiver')),
    'lootboxes', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                   where e.kind = 'lootbox' and e.owner_id = who and e.status = 'Owned'),
    'organizations', (select coalesce(jsonb_agg(m.organization_id order by m.organization_id), '[]') from organization_member m
                       where m.user_id = who and m.role = 'OrgOwner'
                         and not exists (select 1 from organization_member o where o.organization_id = m.organization_id
                                            and o.user_id <> who and o.role = 'OrgOwner')))
$$;
