-- The account goes on without an address it has not proven: under the one it proved before, if that is still free.
create function give_back_address(u app_user) returns void language sql as $$
  update app_user set updated_at = now(), email = kept.email,
         email_verified_at = case when kept.email is not null then u.proven_at end
    from (select (select u.proven_email where not exists (select 1 from app_user o where o.email = u.proven_email)) as email) kept
   where id = u.id
$$;

-- As before; and an account that is opened by an alternate_id and a password was there before its address: who reads the mail
-- of a mistyped one gets neither the account nor what it holds.
create or replace function consume_magic_link(p_hashes text[], p_attempt uuid, p_shown text[]) returns jsonb language plpgsql as $$
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
    if u.password_hash is not null and (u.proven_at is not null or u.alternate_id is not null) then
      if u.proven_email is null and u.alternate_id is null then
        update magic_link set used_at = null, used_by = null where token_hash = l.token_hash;
        return jsonb_build_object('user_id', u.id, 'needs_password', true, 'released', true, 'ended', null, 'api_keys', '[]'::jsonb);
      end if;
      perform give_back_address(u);
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

create index app_user_admins on app_user (id) where role in ('Admin', 'Super');

-- Whether nobody else is an administrator. One asks at a time, so that the last two do not each count on the other.
create function is_last_admin(who uuid) returns boolean language plpgsql as $$
begin
  perform pg_advisory_xact_lock(730214907);
  return exists (select 1 from app_user where id = who and role in ('Admin', 'Super') and deactivated_at is null)
     and not exists (select 1 from app_user where role in ('Admin', 'Super') and id <> who
                        and deactivated_at is null and deleted_at is null);
end $$;

-- As before; but the last administrator stays one. Told with the role, which is what processes of the version before understand.
-- And a password from support is for the owner of the address, not for who may have registered it before them.
create or replace function update_user(who uuid, p jsonb, may_touch text[]) returns jsonb language plpgsql as $$
declare
  u app_user; given jsonb := '[]';
  deactivates boolean := coalesce((p->>'active')::boolean = false, false);
  activates   boolean := coalesce((p->>'active')::boolean, false);
begin
  if (deactivates or p->>'role' not in ('Admin', 'Super')) and is_last_admin(who) then
    return jsonb_build_object('role', 'Admin', 'last_admin', true);
  end if;
  select * into u from app_user where id = who and deleted_at is null for update;
  if not found then return null; end if;
  if u.role <> all (may_touch) then return jsonb_build_object('role', u.role); end if;
  if p ? 'password_hash' and u.email is not null and u.alternate_id is null and coalesce(u.email_verified_at, u.proven_at) is null then
    perform end_unproven(u);
  end if;
  update app_user set
         email = coalesce(p->>'email', email),
         email_verified_at = case when p->>'email' is distinct from email and p ? 'email' then null else email_verified_at end,
         first_name = nullif(coalesce(p->>'first_name', first_name), ''),
         last_name = nullif(coalesce(p->>'last_name', last_name), ''),
         source = coalesce(p->>'source', source),
         free_limit = coalesce((p->>'free_limit')::int, free_limit),
         role = coalesce(p->>'role', role),
         password_hash = coalesce(p->>'password_hash', password_hash),
         deactivated_at = case when deactivates then coalesce(deactivated_at, now()) when activates then null else deactivated_at end,
         updated_at = now()
   where id = who returning * into u;
  if deactivates or p ? 'password_hash' then
    given := end_sessions(who, case when deactivates then 'deactivated' else 'password_changed' end)->'events';
  end if;
  return jsonb_build_object('user', display_user(u), 'events', given);
end $$;

-- As before; but the last administrator stays.
create or replace function delete_user(who uuid, insists boolean, may_touch text[]) returns jsonb language plpgsql as $$
declare u app_user; held jsonb;
begin
  if exists (select 1 from app_user where id = who and role in ('Admin', 'Super')) and is_last_admin(who) then
    return jsonb_build_object('role', 'Admin', 'last_admin', true);
  end if;
  perform 1 from organization o
   where exists (select 1 from organization_member m where m.organization_id = o.id and m.user_id = who and m.role = 'OrgOwner')
   order by o.id for update;
  select * into u from app_user where id = who and deleted_at is null for update;
  if not found then return null; end if;
  if u.role <> all (may_touch) then return jsonb_build_object('role', u.role); end if;
  held := user_holdings(who);
  if not insists and exists (select 1 from jsonb_each(held) h where h.value <> '[]') then
    return jsonb_build_object('held', held);
  end if;
  delete from outbox where recipient in (u.email, u.alternate_id);
  delete from magic_link where user_id = who or email = u.email;
  delete from api_key where user_id = who;
  delete from two_factor where user_id = who;
  delete from sms_code where user_id = who;
  delete from payment_method where user_id = who;
  delete from organization_member where user_id = who;
  delete from user_feature where user_id = who;
  delete from user_interest where user_id = who;
  delete from interest_notice where user_id = who;
  delete from wallet where user_id = who;
  delete from pubkey k where k.user_id = who and not exists (select 1 from emoji_id e where e.pubkey = k.pubkey);
  update app_user set email = null, alternate_id = null, first_name = null, last_name = null, source = null,
         password_hash = null, email_verified_at = null, role = 'User',
         deactivated_at = coalesce(deactivated_at, now()), deleted_at = now(), updated_at = now()
   where id = who returning * into u;
  return jsonb_build_object('user', display_user(u), 'kept', held->'emoji_ids',
                            'events', end_sessions(who, 'deleted')->'events');
end $$;

-- As before; but an account that came to the address from another one, or is opened by an alternate_id, gives it back instead of
-- becoming the administrator, whom its second factor would keep out.
create or replace function put_admin(p_email text, p_old text, p_new text) returns boolean language plpgsql as $$
declare was app_user; u app_user;
begin
  insert into app_user (email, role, password_hash, email_verified_at) values (p_email, 'Admin', p_new, now())
  on conflict (email) do nothing;
  if found then return false; end if;
  select * into was from app_user where email = p_email for update;
  if found and was.email_verified_at is null
     and (was.proven_email is not null or (was.alternate_id is not null and was.password_hash is not null)) then
    perform give_back_address(was);
    return put_admin(p_email, p_old, p_new);
  end if;
  update app_user set role = case when role = 'Super' then role else 'Admin' end, deactivated_at = null, deleted_at = null,
         invited_at = null, email_verified_at = coalesce(email_verified_at, now()), updated_at = now()
   where email = p_email returning * into u;
  if was.id is not null and was.email_verified_at is null then
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

-- As before; and who claims an invited account has the alternate_id they registered with.
create or replace function register_user(p jsonb) returns jsonb language plpgsql as $$
declare u app_user; purpose text := p->'link'->>'purpose';
begin
  select * into u from app_user where id = (p->>'id')::uuid;
  if not found then
    update app_user set invited_at = null, updated_at = now(), alternate_id = coalesce(p->>'alternate_id', alternate_id),
           first_name = coalesce(p->>'first_name', first_name), last_name = coalesce(p->>'last_name', last_name),
           source = coalesce(p->>'source', source)
     where email = p->>'email' and invited_at is not null and password_hash is null
       and deactivated_at is null and deleted_at is null and not owns_something(id)
    returning * into u;
    if found then
      purpose := 'login';
    else
      insert into app_user (id, email, alternate_id, source, first_name, last_name, password_hash)
      values ((p->>'id')::uuid, p->>'email', p->>'alternate_id', p->>'source', p->>'first_name', p->>'last_name',
              p->>'password_hash')
      returning * into u;
    end if;
    if p ? 'link' then
      insert into magic_link (token_hash, user_id, email, purpose, expires_at)
      values (p->'link'->>'token_hash', u.id, u.email, purpose,
              now() + make_interval(secs => (p->'link'->>'seconds')::int));
      perform put_mail(p->'mail');
    end if;
  end if;
  return jsonb_build_object('id', u.id);
end $$;

-- As put_sms_code, which processes of the version before call; but only while this is the phone: a code that was sent to the
-- one before is none.
create function put_code_for_phone(p_user uuid, p_sealed_phone text, p_hash text, p_seconds int, p_mail jsonb) returns boolean
language plpgsql as $$
declare for_setup boolean;
begin
  select confirmed_at is null into for_setup from two_factor
   where user_id = p_user and provider = 'SMS' and sealed_phone = p_sealed_phone for update;
  if not found then return false; end if;
  perform put_sms_code(p_user, for_setup, p_hash, p_seconds, p_mail);
  return true;
end $$;

-- As before; but not for an account that was deleted meanwhile, of which no phone is to be kept.
create or replace function set_up_two_factor(p jsonb) returns boolean language plpgsql as $$
begin
  if not hold_user((p->>'user_id')::uuid) then return false; end if;
  insert into two_factor (user_id, provider, sealed_secret, sealed_phone, is_default, backup_hashes)
  values ((p->>'user_id')::uuid, p->>'provider', p->>'sealed_secret', p->>'sealed_phone', (p->>'is_default')::boolean,
          array(select jsonb_array_elements_text(p->'backup_hashes')))
  on conflict (user_id, provider) do update
     set sealed_secret = excluded.sealed_secret, sealed_phone = excluded.sealed_phone, is_default = excluded.is_default,
         backup_hashes = excluded.backup_hashes, last_step = 0, used_by = null, created_at = now()
   where two_factor.confirmed_at is null;
  if not found then return false; end if;
  if p ? 'sms' then
    perform put_sms_code((p->>'user_id')::uuid, true, p->'sms'->>'hash', (p->'sms'->>'seconds')::int, p->'sms'->'mail');
  end if;
  return true;
end $$;
