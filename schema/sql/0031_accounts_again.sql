-- As before; but a change of address that is sent again, after an answer that was lost, finds its own link there: it has been
-- done then, and mailed.
create or replace function update_account(p jsonb) returns jsonb language plpgsql as $$
declare is_new boolean := true;
begin
  update app_user set updated_at = now(),
         first_name = case when p ? 'first_name' then nullif(p->>'first_name', '') else first_name end,
         last_name = case when p ? 'last_name' then nullif(p->>'last_name', '') else last_name end,
         email = coalesce(p->>'email', email),
         email_verified_at = case when p ? 'email' then null else email_verified_at end,
         password_hash = coalesce(p->>'new_hash', password_hash)
   where id = (p->>'id')::uuid and (not p ? 'old_hash' or password_hash is not distinct from p->>'old_hash');
  if not found then
    -- The new hash is in place already: this is the same change, sent again after a lost answer.
    if not exists (select 1 from app_user where id = (p->>'id')::uuid and password_hash = p->>'new_hash') then return null; end if;
    return end_sessions((p->>'id')::uuid, 'password_changed');
  end if;
  if p ? 'link' then
    insert into magic_link (token_hash, user_id, email, purpose, expires_at)
    values (p->'link'->>'token_hash', (p->>'id')::uuid, p->>'email', p->'link'->>'purpose',
            now() + make_interval(secs => (p->'link'->>'seconds')::int))
    on conflict (token_hash) do nothing;
    is_new := found;
  end if;
  if p ? 'mail' and is_new then perform put_mail(p->'mail'); end if;
  return case when p ? 'new_hash' then end_sessions((p->>'id')::uuid, 'password_changed') else '{}' end;
end $$;

-- As before; and what was paid too much for an order, and boxes that were bought and are about to be handed over.
create or replace function user_holdings(who uuid) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'emoji_ids', (select coalesce(jsonb_agg(c.canonical order by c.canonical), '[]') from claim c where c.owner_id = who),
    'pending_orders', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                        where e.kind = 'order' and e.owner_id = who and e.status = 'PendingPayment'),
    'unspent_orders', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                        where e.kind = 'order' and e.owner_id = who and case
                          when e.status in ('Draft', 'Cancelled') then
                            (select coalesce(sum((p->>'cents')::bigint), 0)
                               from jsonb_array_elements(e.state->'context'->'payments') p)
                          > (select coalesce(sum((r->>'cents')::bigint), 0)
                               from jsonb_array_elements(e.state->'context'->'refunds') r where r->>'status' <> 'Failed')
                          when e.status = 'Paid' then
                            (select coalesce(-sum(l.cents), 0) from journal j join ledger_line l on l.journal_id = j.id
                              where j.order_id = e.id and l.account = 'overpaid')
                          > (select coalesce(sum((r->>'cents')::bigint), 0)
                               from jsonb_array_elements(e.state->'context'->'refunds') r where r->>'status' = 'Pending')
                          end),
    'active_transfers', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                          where e.kind = 'transfer' and (e.owner_id = who or e.peer_id = who)
                            and e.status in ('AwaitingSender', 'AwaitingReceiver')),
    'lootboxes', (select coalesce(jsonb_agg(b.id order by b.created_at), '[]') from (
                    select e.id::text as id, e.created_at from entity e
                     where e.kind = 'lootbox' and e.owner_id = who and e.status = 'Owned'
                    union all
                    select x.id, e.created_at from entity e, jsonb_array_elements_text(e.state->'context'->'undelivered') as x(id)
                     where e.kind = 'order' and e.owner_id = who and e.status = 'Paid' and not exists (
                       select 1 from entity h where h.kind = 'lootbox' and h.id = x.id::uuid and h.owner_id = who)) b),
    'organizations', (select coalesce(jsonb_agg(m.organization_id order by m.organization_id), '[]') from organization_member m
                       where m.user_id = who and m.role = 'OrgOwner'
                         and not exists (select 1 from organization_member o where o.organization_id = m.organization_id
                                            and o.user_id <> who and o.role = 'OrgOwner')))
$$;
