-- Functions for second factors.

-- Checks the second factor of a login: a TOTP step that is newer than the last used one, an SMS code, or a backup
-- code. Each can be used once. One exception: clients confirm the setup of an app and then log in with the same code,
-- so a login (p_login) may use the step of the confirmation once more. The attempt (p_attempt) that used a code can
-- repeat the call and gets 'proven' again, because a turn that conflicts with another turn is decided again. Returns
-- 'proven', 'spent' (the code was used before) or 'wrong'.
create or replace function spend_second_factor(p_user uuid, p_attempt uuid, p_step bigint, p_login boolean, p_sms text[], p_backup text[])
returns text language plpgsql as $$
declare sms sms_code;
begin
  if exists (select 1 from two_factor where user_id = p_user and used_by = p_attempt)
     or exists (select 1 from sms_code where user_id = p_user and used_by = p_attempt) then
    return 'proven';
  end if;
  if p_step is not null then
    update two_factor set last_step = p_step, enrolment_step = null, used_by = p_attempt
     where user_id = p_user and provider = 'AuthenticatorApp' and confirmed_at is not null
       and (last_step < p_step or (p_login and last_step = p_step and enrolment_step = p_step));
    return case when found then 'proven' else 'spent' end;
  end if;
  if exists (select 1 from two_factor where user_id = p_user and provider = 'SMS' and confirmed_at is not null) then
    update sms_code set tries = tries + 1, used_by = case when hash = any(p_sms) then p_attempt end
     where user_id = p_user and not for_setup and used_by is null and tries < 5 and expires_at > now()
    returning * into sms;
    if sms.used_by is not null then return 'proven'; end if;
    if exists (select 1 from sms_code where user_id = p_user and not for_setup and hash = any(p_sms) and used_by is not null) then
      return 'spent';
    end if;
  end if;
  update two_factor set backup_hashes = array(select h from unnest(backup_hashes) h where h <> all(p_backup)), used_by = p_attempt
   where user_id = p_user and confirmed_at is not null and backup_hashes && p_backup;
  return case when found then 'proven' else 'wrong' end;
end $$;

-- Locks and returns the count of wrong codes of an account. A lock that has ended is removed, and the count starts
-- again.
create or replace function hold_wrong_codes(p_user uuid) returns two_factor_failure language plpgsql as $$
declare f two_factor_failure;
begin
  insert into two_factor_failure (user_id) values (p_user) on conflict (user_id) do nothing;
  select * into f from two_factor_failure where user_id = p_user for update;
  if f.locked_until <= clock_timestamp() then
    update two_factor_failure set wrong_codes = 0, last_attempt = null, locked_until = null
     where user_id = p_user returning * into f;
  end if;
  return f;
end $$;

-- Counts a wrong code. The last of p_most wrong codes in a row locks all codes of the account for p_lock_seconds.
create or replace function add_wrong_code(p_user uuid, p_attempt uuid, p_most int, p_lock_seconds int)
returns two_factor_failure language sql as $$
  update two_factor_failure set wrong_codes = wrong_codes + 1, last_attempt = p_attempt,
         locked_until = case when wrong_codes + 1 >= p_most then clock_timestamp() + make_interval(secs => p_lock_seconds) end
   where user_id = p_user returning *
$$;

-- Returns a time as milliseconds since 1970, as the sessions store it.
create or replace function epoch_ms(t timestamptz) returns float8 language sql immutable as $$
  select (extract(epoch from t) * 1000)::float8
$$;

-- Checks the second factor of an account like spend_second_factor, and counts wrong codes for the account, in all its
-- logins. The count is locked first, so concurrent requests with wrong codes are counted exactly. Returns {proof,
-- locked_until}. The proof 'locked' means that the code was not checked.
create or replace function check_second_factor(p_user uuid, p_attempt uuid, p_step bigint, p_login boolean, p_sms text[],
  p_backup text[], p_most int, p_lock_seconds int) returns jsonb language plpgsql as $$
declare f two_factor_failure := hold_wrong_codes(p_user); proof text := 'wrong';
begin
  if f.last_attempt is distinct from p_attempt then
    if f.locked_until is not null then
      proof := 'locked';
    else
      proof := spend_second_factor(p_user, p_attempt, p_step, p_login, p_sms, p_backup);
      if proof = 'wrong' then
        f := add_wrong_code(p_user, p_attempt, p_most, p_lock_seconds);
      elsif proof = 'proven' and f.wrong_codes > 0 then
        update two_factor_failure set wrong_codes = 0, last_attempt = null where user_id = p_user;
      end if;
    end if;
  end if;
  return jsonb_build_object('proof', proof, 'locked_until', epoch_ms(f.locked_until));
end $$;

-- Stores a new SMS code with its expiry, and adds the message to the outbox in the same statement.
create or replace function put_sms_code(p_user uuid, p_for_setup boolean, p_hash text, p_seconds int, p_mail jsonb)
returns void language sql as $$
  insert into sms_code (user_id, for_setup, hash, expires_at)
  values (p_user, p_for_setup, p_hash, now() + make_interval(secs => p_seconds))
  on conflict (user_id, for_setup) do update
     set hash = excluded.hash, expires_at = excluded.expires_at, tries = 0, used_by = null;
  select put_mail(p_mail)
$$;

-- Stores and sends a new SMS code like put_sms_code, but only if p_sealed_phone is still the user's phone. Otherwise
-- returns false, because a code that was sent to an earlier phone must not work.
create or replace function put_code_for_phone(p_user uuid, p_sealed_phone text, p_hash text, p_seconds int, p_mail jsonb) returns boolean
language plpgsql as $$
declare for_setup boolean;
begin
  select confirmed_at is null into for_setup from two_factor
   where user_id = p_user and provider = 'SMS' and sealed_phone = p_sealed_phone for update;
  if not found then return false; end if;
  perform put_sms_code(p_user, for_setup, p_hash, p_seconds, p_mail);
  return true;
end $$;

-- Starts the setup of a second factor, or restarts a setup that is not confirmed. Returns false if the provider is
-- already enabled. Also returns false if the account was deleted, so that no phone number is stored for a deleted
-- account.
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

-- Makes exactly one confirmed provider of the user the default: the current default, else p_prefer, else the oldest
-- one.
create or replace function keep_default_factor(p_user uuid, p_prefer text) returns void language sql as $$
  update two_factor t set is_default = (t.provider = (
    select f.provider from two_factor f where f.user_id = p_user and f.confirmed_at is not null
     order by f.is_default desc, (f.provider = p_prefer) desc, f.confirmed_at limit 1))
   where t.user_id = p_user and t.confirmed_at is not null
$$;

-- Enables the provider whose pending setup the code confirms, and returns the provider. Returns null if there is
-- none. The first provider of a user removes sensitive operations from the user's API keys, because no code was
-- entered for them. The user is locked first, as in set_up_two_factor and add_api_key.
create or replace function confirm_two_factor(p_user uuid, p_attempt uuid, p_step bigint, p_sms text[])
returns text language plpgsql as $$
declare chosen text; wants_default boolean;
begin
  perform hold_user(p_user);
  select provider into chosen from two_factor where user_id = p_user and used_by = p_attempt and confirmed_at is not null;
  if found then return chosen; end if;
  if p_step is not null then
    chosen := 'AuthenticatorApp';
  else
    update sms_code set tries = tries + 1, used_by = case when hash = any(p_sms) then p_attempt end
     where user_id = p_user and for_setup and used_by is null and tries < 5 and expires_at > now();
    if exists (select 1 from sms_code where user_id = p_user and for_setup and used_by = p_attempt) then chosen := 'SMS'; end if;
  end if;
  update two_factor set confirmed_at = now(), used_by = p_attempt, last_step = coalesce(p_step, 0), enrolment_step = p_step
   where user_id = p_user and provider = chosen and confirmed_at is null
  returning is_default into wants_default;
  if not found then return null; end if;
  if not exists (select 1 from two_factor where user_id = p_user and provider <> chosen and confirmed_at is not null) then
    update api_key set sensitive = false, scopes = array_remove(scopes, 'adminUser:bypass2fa')
     where user_id = p_user and sensitive;
  end if;
  if wants_default then
    update two_factor set is_default = (provider = chosen) where user_id = p_user;
  end if;
  perform keep_default_factor(p_user, chosen);
  return chosen;
end $$;

-- Like the function above, but a code of the authenticator app (p_step is not null) confirms the setup only if
-- p_sealed_secret is still the stored secret. The caller has checked the code with p_sealed_secret. In the meantime the
-- setup may have been restarted with a new secret; the function then returns null.
create or replace function confirm_two_factor(p_user uuid, p_attempt uuid, p_step bigint, p_sealed_secret text, p_sms text[])
returns text language plpgsql as $$
declare replaced boolean;
begin
  perform hold_user(p_user);
  if p_step is not null then
    select sealed_secret is distinct from p_sealed_secret into replaced from two_factor
     where user_id = p_user and provider = 'AuthenticatorApp' for update;
    if replaced then return null; end if;
  end if;
  return confirm_two_factor(p_user, p_attempt, p_step, p_sms);
end $$;

-- Disables one provider, or all providers if p_provider is null. Includes unconfirmed setups. Returns the number of
-- removed providers. With the last provider, the account's lock ends. The count is locked first, as in every function
-- that also changes providers, so that two of them cannot wait for each other.
create or replace function disable_two_factor(p_user uuid, p_provider text) returns int language plpgsql as $$
declare removed int;
begin
  perform 1 from two_factor_failure where user_id = p_user for update;
  with d as (
    delete from two_factor where user_id = p_user and (p_provider is null or provider = p_provider) returning 1
  ) select count(*)::int into removed from d;
  delete from sms_code where user_id = p_user and (p_provider is null or p_provider = 'SMS');
  perform keep_default_factor(p_user, null);
  delete from two_factor_failure f where f.user_id = p_user
     and not exists (select 1 from two_factor t where t.user_id = p_user and t.confirmed_at is not null);
  return removed;
end $$;

-- Disables one or all providers with a backup code. Returns null if the code is unknown. Also returns null if
-- p_provider is not enabled; the code is then not used up.
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

-- Disables providers with a backup code like backup_disable_two_factor, and counts a wrong code for the account. Only
-- for a caller who has shown the password: a stranger who knows an email address must not be able to lock the account.
-- Returns {proof, locked_until} like check_second_factor.
create or replace function prove_backup_disable(p_user uuid, p_attempt uuid, p_backup text[], p_provider text,
  p_most int, p_lock_seconds int) returns jsonb language plpgsql as $$
declare f two_factor_failure := hold_wrong_codes(p_user); proof text := 'wrong';
begin
  if f.last_attempt is distinct from p_attempt then
    if f.locked_until is not null then
      proof := 'locked';
    elsif backup_disable_two_factor(p_user, p_backup, p_provider) is not null then
      proof := 'proven';
    else
      f := add_wrong_code(p_user, p_attempt, p_most, p_lock_seconds);
    end if;
  end if;
  return jsonb_build_object('proof', proof, 'locked_until', epoch_ms(f.locked_until));
end $$;

-- Removes all second factors of a user who lost them, on behalf of support. Also ends the user's sessions, because
-- one of them may belong to an attacker.
create or replace function destroy_two_factor(who uuid, may_touch text[]) returns jsonb language plpgsql as $$
declare u app_user; events jsonb := '[]';
begin
  select * into u from app_user where id = who and deleted_at is null for update;
  if not found then return null; end if;
  if u.role <> all (may_touch) then return jsonb_build_object('role', u.role); end if;
  if disable_two_factor(who, null) > 0 then events := end_sessions(who, 'two_factor_removed')->'events'; end if;
  select * into u from app_user where id = who;
  return jsonb_build_object('user', display_user(u), 'events', events);
end $$;
