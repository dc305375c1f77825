-- What a user may have so many of is added by one request at a time: those that come together would otherwise all count
-- before any of them has written. The lock is a statement of its own, so that what follows it sees what others committed.
create function hold_user(p_user uuid) returns boolean language plpgsql as $$
begin
  perform 1 from app_user where id = p_user and deleted_at is null for no key update;
  return found;
end $$;

-- Nothing: there is no such user, the key would have expired already, or there are as many as there may be.
create function put_api_key(p_id text, p_user uuid, p_name text, p_hash text, p_scopes text[], p_expires timestamptz, p_most int)
returns setof api_key language plpgsql as $$
begin
  if hold_user(p_user) then
    insert into api_key (id, user_id, name, secret_hash, scopes, expires_at)
    select p_id, p_user, p_name, p_hash, p_scopes, p_expires
     where coalesce(p_expires > now(), true) and (select count(*) from api_key where user_id = p_user) < p_most
    on conflict (id) do nothing;
  end if;
  return query select * from api_key where id = p_id;
end $$;

create function put_pubkey(p_user uuid, p_pubkey text, p_sealed text, p_most int, out user_exists boolean, out holder uuid)
language plpgsql as $$
begin
  user_exists := hold_user(p_user);
  if user_exists then
    insert into pubkey (pubkey, user_id, sealed_key)
    select p_pubkey, p_user, p_sealed where (select count(*) from pubkey where user_id = p_user) < p_most
    on conflict do nothing;
  end if;
  select user_id into holder from pubkey where pubkey = p_pubkey;
end $$;

create function link_wallet(p_user uuid, p_address text, p_source text, p_most int)
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
