-- Functions that find and remove the demo data.

-- Lists the demo data that is still in the database. `usable` is true if the item is active, on sale or not used up.
-- The caller compares the secrets of users and clients with the demo secrets. Lootboxes that were bought are not
-- listed. An id is listed only while a demo user owns it and if it was not bought.
create or replace function demo_items_left()
returns table (kind text, target text, name text, shown text, usable boolean,
               secret_hash text, secret_from text, current_hash text) language sql stable as $$
  select i.kind, i.target, i.name, coalesce(u.email, u.alternate_id, i.target), u.deactivated_at is null,
         i.secret_hash, i.secret_from, u.password_hash
    from demo_item i join app_user u on u.id = i.target::uuid
   where i.kind = 'user' and u.deleted_at is null
  union all
  select i.kind, i.target, i.name, c.client_id, true, i.secret_hash, i.secret_from, c.secret_hash
    from demo_item i join oauth_client c on c.client_id = i.target
   where i.kind = 'client'
  union all
  select i.kind, i.target, i.name, c.redemption_code,
         (c.end_date is null or c.end_date > now()) and (c.max_uses is null or c.uses < c.max_uses), null, null, null
    from demo_item i join code c on c.id = i.target::uuid
   where i.kind = 'code' and c.deleted_at is null
  union all
  select i.kind, i.target, i.name, i.target,
         e.status = 'Available' or exists (select 1 from app_user u
                                            where u.id = e.owner_id and u.deleted_at is null and u.deactivated_at is null),
         null, null, null
    from demo_item i join entity e on e.kind = 'lootbox' and e.id = i.target::uuid
   where i.kind = 'lootbox' and e.state->'context'->>'orderId' is null and e.status in ('Available', 'Owned')
  union all
  select i.kind, i.target, i.name, i.name, true, null, null, null
    from demo_item i join organization o on o.id = i.target::uuid
   where i.kind = 'organization'
  union all
  select 'id', e.canonical, e.canonical, e.canonical, true, null, null, null
    from emoji_id e join demo_item o on o.kind = 'user' and o.target = e.owner_id::text
   where e.canonical in (select i.target from demo_item i where i.kind = 'id') and e.source = 'admin'
  union all
  select 'id', e.canonical, e.canonical, e.canonical, true, null, null, null
    from demo_item i join entity b on b.kind = 'lootbox' and b.id = i.target::uuid
    cross join lateral jsonb_path_query(b.state, '$.context.ids[*].canonical') as held(canonical)
    join emoji_id e on e.canonical = held.canonical #>> '{}'
   where i.kind = 'lootbox' and b.state->'context'->>'orderId' is null and e.source = 'lootbox:' || i.target
     and exists (select 1 from demo_item o where o.kind = 'user' and o.target = e.owner_id::text)
$$;

-- Deletes a demo user, even the last administrator: its password is public, so the account must not stay. Ids of the
-- user stay reserved under the deleted account.
create or replace function delete_demo_user(who uuid, may_touch text[]) returns jsonb language plpgsql as $$
begin
  -- Locks the organizations in the same order as delete_user, to avoid deadlocks.
  perform 1 from organization o
   where exists (select 1 from organization_member m where m.organization_id = o.id and m.user_id = who and m.role = 'OrgOwner')
   order by o.id for update;
  update app_user set role = 'User' where id = who and deleted_at is null;
  return delete_user(who, true, may_touch);
end $$;
