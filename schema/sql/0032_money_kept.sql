-- As before; but a payment may come when its buyer has gone, or has lost the key that was chosen: nothing is given to a
-- nameless account, and no id is bound to a key that is somebody else's by now. A deletion waits for grants under way.
create or replace function put_grants(p jsonb) returns void language plpgsql as $$
declare gone uuid;
begin
  with owner as materialized (
    select u.id, u.deleted_at from app_user u
     where u.id in (select x.owner_id from jsonb_to_recordset(p) as x(owner_id uuid)) order by u.id for key share)
  select id into gone from owner where deleted_at is not null limit 1;
  if gone is not null then
    raise exception using errcode = 'EI003', message = 'no such user', detail = 'owner_gone';
  end if;
  insert into emoji_id (canonical, owner_id, pubkey, source)
  select x.canonical, x.owner_id,
         coalesce((select k.pubkey from pubkey k where k.pubkey = x.pubkey and k.user_id = x.owner_id),
                  (select k.pubkey from pubkey k where k.user_id = x.owner_id order by k.created_at, k.pubkey limit 1)),
         x.source
    from jsonb_to_recordset(p) as x(canonical text, owner_id uuid, pubkey text, source text) order by x.canonical;
end $$;

-- Interests of a user and keys of a code are added by one request at a time, as what is limited in 0029.
create function put_interest(p_user uuid, p_canonical text, p_most int) returns setof user_interest language plpgsql as $$
begin
  if not hold_user(p_user) then return; end if;
  return query
    insert into user_interest as i (user_id, canonical)
    select p_user, p_canonical
     where not exists (select 1 from claim c where c.canonical = p_canonical and c.owner_id = p_user)
       and (select count(*) from user_interest o where o.user_id = p_user and o.canonical <> p_canonical) < p_most
    on conflict (user_id, canonical) do update set updated_at = now()
    returning i.*;
end $$;

create function put_code_pubkey(p_code uuid, p_pubkey text, p_most int) returns boolean language plpgsql as $$
begin
  perform 1 from code where id = p_code for no key update;
  insert into code_pubkey (code_id, pubkey)
  select p_code, p_pubkey
   where (select count(*) from code_pubkey o where o.code_id = p_code and o.pubkey <> p_pubkey) < p_most
  on conflict (code_id, pubkey) do update set pubkey = excluded.pubkey;
  return found;
end $$;

-- Payment methods that are gone here, and whose provider has yet to hear of it: it may be away when a user deletes one, or
-- the account. `at`: whoever deletes one tells it at once; later it is told by whoever looks first.
create table method_to_forget (
  id       text        primary key,
  provider text        not null,
  at       timestamptz not null default now()
);
create function put_method_to_forget() returns trigger language plpgsql as $$
begin
  insert into method_to_forget (id, provider) values (old.id, old.provider) on conflict (id) do nothing;
  return null;
end $$;
create trigger payment_method_hidden after update of deleted_at on payment_method for each row
  when (old.deleted_at is null and new.deleted_at is not null) execute function put_method_to_forget();
create trigger payment_method_gone after delete on payment_method for each row
  when (old.deleted_at is null) execute function put_method_to_forget();
