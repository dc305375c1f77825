-- Functions for public keys and wallets. A user can have a limited number of each, so the functions that add
-- one lock the user first (hold_user).

-- Adds a custodial key ({pubkey, sealed_key}) to a user who has no key. Every statement that creates a user calls it or
-- does the same, so that a user always has a key.
create or replace function add_first_key(p_user uuid, p_key jsonb) returns void language sql as $$
  insert into pubkey (pubkey, user_id, sealed_key)
  select p_key->>'pubkey', p_user, p_key->>'sealed_key'
   where p_key is not null and not exists (select 1 from pubkey where user_id = p_user)
  on conflict do nothing
$$;

-- Adds a custodial key to each of these users who has none: p is a list of {user_id, pubkey, sealed_key}. Returns the
-- users who got their key. The lock of the user lets one of several processes add a key.
create or replace function give_first_keys(p jsonb) returns setof uuid language plpgsql as $$
declare one jsonb;
begin
  for one in select x from jsonb_array_elements(p) x order by x->>'user_id' loop
    if hold_user((one->>'user_id')::uuid) then
      perform add_first_key((one->>'user_id')::uuid, one);
      return query select user_id from pubkey where pubkey = one->>'pubkey';
    end if;
  end loop;
end $$;

-- Adds a key to a user. Returns whether the user exists, who has the key now, and whether this statement (p_request)
-- added it. A statement that is sent again is recognised, so its answer is the same.
create or replace function add_pubkey(p_user uuid, p_pubkey text, p_sealed text, p_request uuid, p_most int,
  out user_exists boolean, out holder uuid, out is_added boolean) language plpgsql as $$
begin
  user_exists := hold_user(p_user);
  if user_exists then
    insert into pubkey (pubkey, user_id, sealed_key, added_by)
    select p_pubkey, p_user, p_sealed, p_request where (select count(*) from pubkey where user_id = p_user) < p_most
    on conflict do nothing;
  end if;
  select user_id, user_id = p_user and added_by is not distinct from p_request into holder, is_added
    from pubkey where pubkey = p_pubkey;
end $$;

-- Removes a key from the account of a user who added it without a proof, after another user (p_user) has proved
-- possession of it. Returns the user who lost the key. Does not remove custodial keys, keys of an organization and
-- keys that own an id. The registration of an id locks the account of its owner, so this function locks the account
-- first and then checks for ids.
create or replace function free_pubkey(p_user uuid, p_pubkey text) returns setof uuid language plpgsql as $$
begin
  perform 1 from app_user where id = (select k.user_id from pubkey k where k.pubkey = p_pubkey) and id <> p_user for update;
  return query
    delete from pubkey k
     where k.pubkey = p_pubkey and k.user_id <> p_user and k.sealed_key is null and k.organization_id is null
       and not exists (select 1 from emoji_id e where e.pubkey = k.pubkey)
    returning k.user_id;
end $$;

create or replace function link_wallet(p_user uuid, p_address text, p_source text, p_most int)
returns setof wallet language plpgsql as $$
begin
  if not hold_user(p_user) then return; end if;
  return query
    insert into wallet as w (user_id, eth_address, source)
    select p_user, p_address, p_source
     where (select count(*) from wallet o where o.user_id = p_user and o.eth_address <> p_address) < p_most
    on conflict (user_id, eth_address) do update set source = excluded.source
    returning w.*;
end $$;
