-- The address of the account that was proven last, kept while a new one is not.
alter table app_user add column proven_email text;
create or replace function keep_proven_at() returns trigger language plpgsql as $$
begin
  if new.deleted_at is not null then
    new.proven_email := null;
    return new;
  end if;
  new.proven_at := coalesce(old.proven_at, old.email_verified_at);
  new.proven_email := old.email;
  return new;
end $$;
drop trigger app_user_unproven on app_user;
create trigger app_user_unproven before update on app_user for each row
  when ((old.email_verified_at is not null and new.email_verified_at is null)
        or (old.deleted_at is null and new.deleted_at is not null)) execute function keep_proven_at();

-- Ends all that was set up for an account before its address was proven: by a stranger, perhaps. Answers the API keys.
-- The second factor and the key in custody of who had proven another address before are their own.
create function end_unproven(u app_user) returns text[] language plpgsql as $$
declare keys text[];
begin
  with k as (delete from api_key where user_id = u.id returning id) select array_agg(id) into keys from k;
  delete from two_factor where user_id = u.id and u.proven_at is null;
  delete from sms_code where user_id = u.id and u.proven_at is null;
  delete from wallet where user_id = u.id;
  delete from pubkey k where k.user_id = u.id and not (k.sealed_key is not null and u.proven_at is not null)
     and not exists (select 1 from emoji_id e where e.pubkey = k.pubkey);
  return keys;
end $$;

-- As the one of two parameters, which processes of the version before still call; but whoever shows nothing besides the
-- mail (p_shown: the users whose password or login was shown with it) may be another than the one who registered. So the
-- first proof of an address ends all that was set up before it, the password too. An account that had another proven
-- address and a password gives the new address back instead: it was mistyped, or taken before its owner came.
create function consume_magic_link(p_hashes text[], p_attempt uuid, p_shown text[]) returns jsonb language plpgsql as $$
declare l magic_link; u app_user; over jsonb; keys text[];
begin
  update magic_link m set used_at = now(), used_by = p_attempt
    from app_user x
   where m.token_hash = any(p_hashes) and (m.used_at is null or m.used_by = p_attempt) and m.expires_at > now()
     and x.id = m.user_id and x.email = m.email and x.deactivated_at is null and x.deleted_at is null
     and (m.purpose = 'confirm' or x.password_hash is null)
  returning m.* into l;
  if not found then return null; end if;
  select * into u from app_user where id = l.user_id for update;
  if u.email_verified_at is null and u.id::text <> all(p_shown) then
    if u.proven_at is not null and u.password_hash is not null then
      update app_user set updated_at = now(),
             email = case when exists (select 1 from app_user o where o.email = u.proven_email) then null else u.proven_email end,
             email_verified_at = case when exists (select 1 from app_user o where o.email = u.proven_email) then null else u.proven_at end
       where id = u.id;
      return jsonb_build_object('user_id', u.id, 'released', true, 'ended', null, 'api_keys', '[]'::jsonb);
    end if;
    keys := end_unproven(u);
    update app_user set password_hash = null where id = u.id;
    over := end_sessions(u.id, 'claimed');
  end if;
  update app_user set email_verified_at = coalesce(email_verified_at, now()), invited_at = null, updated_at = now()
   where id = u.id;
  return jsonb_build_object('user_id', u.id, 'ended', over, 'api_keys', coalesce(to_jsonb(keys), '[]'));
end $$;

-- As before; but of an account that somebody had registered with the address, and never proven, the administrator inherits
-- nothing: neither a second factor that would keep them out nor keys and logins that would let a stranger in.
create or replace function put_admin(p_email text, p_old text, p_new text) returns boolean language plpgsql as $$
declare was app_user; u app_user;
begin
  insert into app_user (email, role, password_hash, email_verified_at) values (p_email, 'Admin', p_new, now())
  on conflict (email) do nothing;
  if found then return false; end if;
  select * into was from app_user where email = p_email for update;
  update app_user set role = case when role = 'Super' then role else 'Admin' end, deactivated_at = null, deleted_at = null,
         invited_at = null, email_verified_at = coalesce(email_verified_at, now()), updated_at = now()
   where email = p_email returning * into u;
  if was.email_verified_at is null then
    perform end_unproven(was);
    perform end_sessions(u.id, 'claimed');
  end if;
  if u.password_hash is not distinct from p_old and p_new is distinct from p_old then
    update app_user set password_hash = p_new where id = u.id;
    perform end_sessions(u.id, 'password_changed');
    return true;
  end if;
  return false;
end $$;
