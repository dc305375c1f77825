-- An invited account to which something is being sent holds that already: who reads its mail decides about it.
create or replace function owns_something(p_user uuid) returns boolean language sql stable as $$
  select exists (select 1 from claim where owner_id = p_user)
      or exists (select 1 from entity where kind = 'lootbox' and owner_id = p_user)
      or exists (select 1 from entity where kind = 'transfer' and peer_id = p_user
                    and status in ('AwaitingSender', 'AwaitingReceiver'))
$$;

-- As before; and a code is not used up for a provider that is not on.
create or replace function backup_disable_two_factor(p_user uuid, p_backup text[], p_provider text) returns int language plpgsql as $$
begin
  if p_provider is not null and not exists (
       select 1 from two_factor where user_id = p_user and provider = p_provider and confirmed_at is not null) then
    return null;
  end if;
  update two_factor set backup_hashes = array(select h from unnest(backup_hashes) h where h <> all(p_backup))
   where user_id = p_user and confirmed_at is not null and backup_hashes && p_backup;
  if not found then return null; end if;
  return disable_two_factor(p_user, p_provider);
end $$;

-- As before; and organizations that would be left without an owner.
create or replace function user_holdings(who uuid) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'emoji_ids', (select coalesce(jsonb_agg(c.canonical order by c.canonical), '[]') from claim c where c.owner_id = who),
    'pending_orders', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                        where e.kind = 'order' and e.owner_id = who and e.status = 'PendingPayment'),
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

-- A deleted application's grants stay, as revoked, until their access tokens have run out.
alter table oauth_grant alter column client_id drop not null, drop constraint oauth_grant_client_id_fkey,
  add constraint oauth_grant_client_id_fkey foreign key (client_id) references oauth_client on delete set null;
create function revoke_grants_of_client() returns trigger language plpgsql as $$
begin
  update oauth_grant set revoked_at = coalesce(revoked_at, now()) where client_id = old.client_id;
  return old;
end $$;
create trigger oauth_client_deleted before delete on oauth_client for each row execute function revoke_grants_of_client();
