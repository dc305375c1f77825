create table app_user (
  id                uuid        primary key default gen_random_uuid(),
  email             text        unique check (email = lower(email)),
  alternate_id      text        unique,
  source            text,
  first_name        text,
  last_name         text,
  password_hash     text,
  role              text        not null default 'User',
  free_limit        int         not null default 1 check (free_limit >= 0),
  free_used         int         not null default 0 check (free_used >= 0),
  email_verified_at timestamptz,
  deactivated_at    timestamptz,
  deleted_at        timestamptz,
  invited_at        timestamptz,
  token_epoch       int         not null default 0,   -- every access token of an older epoch is dead
  two_factor_last_prompted_at timestamptz,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now()
);
create index app_user_created on app_user (created_at, id);

create table organization (
  id           uuid        primary key default gen_random_uuid(),
  name         text        not null,
  partner_path text        unique,
  return_link  text,
  branding     jsonb       not null default '{}',
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now()
);

create table organization_member (
  organization_id uuid not null references organization on delete cascade,
  user_id         uuid not null references app_user on delete cascade,
  role            text not null,
  created_at      timestamptz not null default now(),
  primary key (organization_id, user_id)
);
create index organization_member_user on organization_member (user_id);

-- A key that can own ids. Custodial keys keep their private half sealed; others never show it to us.
create table pubkey (
  pubkey          text        primary key,
  user_id         uuid        not null references app_user on delete cascade,
  organization_id uuid        references organization,
  sealed_key      text,
  created_at      timestamptz not null default now()
);
create index pubkey_user on pubkey (user_id, created_at);

-- A second factor that is on (confirmed) or being set up.
create table two_factor (
  user_id       uuid        not null references app_user on delete cascade,
  provider      text        not null check (provider in ('AuthenticatorApp', 'SMS')),
  sealed_secret text,
  sealed_phone  text,
  is_default    boolean     not null default false,
  last_step     bigint      not null default 0,       -- the newest TOTP step used: a code works once
  used_by       uuid,                                 -- the attempt that used it; the same attempt may ask again
  backup_hashes text[]      not null default '{}',    -- shown with the set-up, each taken out when it is used
  confirmed_at  timestamptz,
  created_at    timestamptz not null default now(),
  primary key (user_id, provider)
);

create table api_key (
  id          text        primary key,
  user_id     uuid        not null references app_user on delete cascade,
  name        text        not null,
  secret_hash text        not null,
  scopes      text[]      not null,
  expires_at  timestamptz,
  created_at  timestamptz not null default now()
);
create index api_key_user on api_key (user_id, created_at);

create function wire_time(t timestamptz) returns text language sql immutable as $$
  select to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- A user as answers show them; absent facts are left out. People without two-factor are asked about it monthly.
create function display_user(u app_user) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'id', u.id, 'created_at', wire_time(u.created_at), 'updated_at', wire_time(u.updated_at),
    'free_limit', u.free_limit, 'remaining_free_emoji', greatest(u.free_limit - u.free_used, 0), 'role', u.role,
    'alternate_id', u.alternate_id, 'email', u.email, 'first_name', u.first_name, 'last_name', u.last_name,
    'source', u.source, 'deactivated_at', wire_time(u.deactivated_at), 'email_verified_at', wire_time(u.email_verified_at),
    'two_factor_last_prompted_at', wire_time(u.two_factor_last_prompted_at),
    'pubkeys', (select coalesce(jsonb_agg(k.pubkey order by k.created_at, k.pubkey), '[]') from pubkey k where k.user_id = u.id),
    'two_factor_auth', (select coalesce(jsonb_agg(t.provider order by t.is_default desc, t.provider), '[]')
                          from two_factor t where t.user_id = u.id and t.confirmed_at is not null),
    'two_factor_should_prompt', not exists (select 1 from two_factor t where t.user_id = u.id and t.confirmed_at is not null)
                                and coalesce(u.two_factor_last_prompted_at < now() - interval '30 days', true)))
$$;

-- The one SMS code of a user that counts, for logging in or (to a phone not confirmed yet) for setting up.
create table sms_code (
  user_id    uuid        not null references app_user on delete cascade,
  for_setup  boolean     not null,
  hash       text        not null,
  tries      int         not null default 0,
  used_by    uuid,
  expires_at timestamptz not null,
  primary key (user_id, for_setup)
);

-- A mailed link. Links asked for in vain are written too, without a user: an address is not given away by the time it takes.
create table magic_link (
  token_hash text        primary key,
  user_id    uuid        references app_user on delete cascade,
  email      text        not null,
  purpose    text        not null check (purpose in ('login', 'welcome', 'confirm')),
  expires_at timestamptz not null,
  used_at    timestamptz,
  used_by    uuid,                                    -- the attempt that used it; the same attempt may ask again
  created_at timestamptz not null default now()
);
create index magic_link_expires on magic_link (expires_at);

-- Requests counted across processes. Losing the counts in a crash only forgives.
create unlogged table rate_window (
  key       text        primary key,
  used      int         not null,
  resets_at timestamptz not null
) with (fillfactor = 70);
create index rate_window_resets on rate_window (resets_at);

create index session_over on entity (updated_at) where kind = 'session' and status in ('Revoked', 'Expired');

-- Counts one request against every key, and tells how each stands.
create function take_rate(p_keys text[], p_seconds int[])
returns table (key text, used int, resets_at timestamptz) language sql as $$
  insert into rate_window as w (key, used, resets_at)
  select x.key, 1, now() + make_interval(secs => x.seconds)
    from unnest(p_keys, p_seconds) as x(key, seconds) order by x.key
  on conflict (key) do update
     set used = case when w.resets_at <= now() then 1 else w.used + 1 end,
         resets_at = case when w.resets_at <= now() then excluded.resets_at else w.resets_at end
  returning w.key, w.used, w.resets_at
$$;

-- Every login session of the user is over, and every access token with it: they carry the older epoch.
create function end_sessions(p_user uuid, p_reason text) returns jsonb language plpgsql as $$
declare now_epoch int;
begin
  update app_user set token_epoch = token_epoch + 1, updated_at = now() where id = p_user returning token_epoch into now_epoch;
  if not found then return null; end if;
  update entity set status = 'Revoked', state = jsonb_set(state, '{value}', '"Revoked"'), version = version + 1,
         turn = gen_random_uuid(), due_at = null, updated_at = now()
   where kind = 'session' and owner_id = p_user and status not in ('Revoked', 'Expired');
  return jsonb_build_object('epoch', now_epoch, 'events', put_events(jsonb_build_array(jsonb_build_object(
    'channel', 'session:' || p_user, 'type', 'session.logged_out', 'data', jsonb_build_object('reason', p_reason)))));
end $$;

-- Whether an account nobody has claimed yet holds something worth stealing.
create function owns_something(p_user uuid) returns boolean language sql stable as $$
  select exists (select 1 from claim where owner_id = p_user)
      or exists (select 1 from entity where kind = 'lootbox' and owner_id = p_user)
$$;

-- A new user with the welcome mail, or an invited one claimed. The id comes from the caller, so a repeat is recognised.
-- What was sent to an invited address belongs to who reads its mail: a password set before that is proven would let a
-- stranger wait inside, so it is not kept, and the link that proves the address expels whoever was there before.
create function register_user(p jsonb) returns jsonb language plpgsql as $$
declare u app_user; purpose text := p->'link'->>'purpose';
begin
  select * into u from app_user where id = (p->>'id')::uuid;
  if not found then
    update app_user set invited_at = null, updated_at = now(),
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

-- Uses up a link and counts the email as proven. Null: no such link, or its time is over.
-- The first proof of a login link expels whoever registered the address before without owning it.
create function consume_magic_link(p_hashes text[], p_attempt uuid) returns jsonb language plpgsql as $$
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
  if l.purpose = 'login' and u.email_verified_at is null then
    with k as (delete from api_key where user_id = u.id returning id) select array_agg(id) into keys from k;
    delete from two_factor where user_id = u.id;
    delete from wallet where user_id = u.id;
    delete from pubkey k where k.user_id = u.id and not exists (select 1 from emoji_id e where e.pubkey = k.pubkey);
    over := end_sessions(u.id, 'claimed');
  end if;
  update app_user set email_verified_at = coalesce(email_verified_at, now()), invited_at = null, updated_at = now()
   where id = u.id;
  return jsonb_build_object('user_id', u.id, 'ended', over, 'api_keys', coalesce(to_jsonb(keys), '[]'));
end $$;

-- Whether the code proves the second factor: a TOTP step newer than any used, the SMS code, or a backup code. Each works
-- once; the attempt that used it may ask again, because a turn that loses a race decides anew.
create function use_second_factor(p_user uuid, p_attempt uuid, p_step bigint, p_sms text[], p_backup text[])
returns text language plpgsql as $$
declare sms sms_code;
begin
  if exists (select 1 from two_factor where user_id = p_user and used_by = p_attempt)
     or exists (select 1 from sms_code where user_id = p_user and used_by = p_attempt) then
    return 'proven';
  end if;
  if p_step is not null then
    update two_factor set last_step = p_step, used_by = p_attempt
     where user_id = p_user and provider = 'AuthenticatorApp' and confirmed_at is not null and last_step < p_step;
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

-- A code for the phone, counted and dated anew; its mail leaves with the same statement.
create function put_sms_code(p_user uuid, p_for_setup boolean, p_hash text, p_seconds int, p_mail jsonb)
returns void language sql as $$
  insert into sms_code (user_id, for_setup, hash, expires_at)
  values (p_user, p_for_setup, p_hash, now() + make_interval(secs => p_seconds))
  on conflict (user_id, for_setup) do update
     set hash = excluded.hash, expires_at = excluded.expires_at, tries = 0, used_by = null;
  select put_mail(p_mail)
$$;

-- Begins a set-up, or begins it again while it is not confirmed. False: this provider is on already.
create function set_up_two_factor(p jsonb) returns boolean language plpgsql as $$
begin
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

-- One confirmed provider is the default, as long as there is one.
create function keep_default_factor(p_user uuid, p_prefer text) returns void language sql as $$
  update two_factor t set is_default = (t.provider = (
    select f.provider from two_factor f where f.user_id = p_user and f.confirmed_at is not null
     order by f.is_default desc, (f.provider = p_prefer) desc, f.confirmed_at limit 1))
   where t.user_id = p_user and t.confirmed_at is not null
$$;

-- Turns on the provider the code belongs to and names it. Null: the code fits none that waits.
create function confirm_two_factor(p_user uuid, p_attempt uuid, p_step bigint, p_sms text[])
returns text language plpgsql as $$
declare chosen text; wants_default boolean;
begin
  select provider into chosen from two_factor where user_id = p_user and used_by = p_attempt and confirmed_at is not null;
  if found then return chosen; end if;
  if p_step is not null then
    chosen := 'AuthenticatorApp';
  else
    update sms_code set tries = tries + 1, used_by = case when hash = any(p_sms) then p_attempt end
     where user_id = p_user and for_setup and used_by is null and tries < 5 and expires_at > now();
    if exists (select 1 from sms_code where user_id = p_user and for_setup and used_by = p_attempt) then chosen := 'SMS'; end if;
  end if;
  update two_factor set confirmed_at = now(), used_by = p_attempt, last_step = coalesce(p_step, 0)
   where user_id = p_user and provider = chosen and confirmed_at is null
  returning is_default into wants_default;
  if not found then return null; end if;
  if wants_default then
    update two_factor set is_default = (provider = chosen) where user_id = p_user;
  end if;
  perform keep_default_factor(p_user, chosen);
  return chosen;
end $$;

-- Turns off one provider, or all, set-ups that wait included; says how many there were.
create function disable_two_factor(p_user uuid, p_provider text) returns int language plpgsql as $$
declare gone int;
begin
  with d as (
    delete from two_factor where user_id = p_user and (p_provider is null or provider = p_provider) returning 1
  ) select count(*)::int into gone from d;
  delete from sms_code where user_id = p_user and (p_provider is null or p_provider = 'SMS');
  perform keep_default_factor(p_user, null);
  return gone;
end $$;

-- The same by a backup code. Null: no such code.
create function backup_disable_two_factor(p_user uuid, p_backup text[], p_provider text) returns int language plpgsql as $$
begin
  update two_factor set backup_hashes = array(select h from unnest(backup_hashes) h where h <> all(p_backup))
   where user_id = p_user and confirmed_at is not null and backup_hashes && p_backup;
  if not found then return null; end if;
  return disable_two_factor(p_user, p_provider);
end $$;

-- What users change about themselves, whole or not at all. A new email is unconfirmed and gets a link; a new password
-- ends every session. Null: the password the change was allowed by is no longer the one stored.
create function update_account(p jsonb) returns jsonb language plpgsql as $$
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
            now() + make_interval(secs => (p->'link'->>'seconds')::int));
  end if;
  if p ? 'mail' then perform put_mail(p->'mail'); end if;
  return case when p ? 'new_hash' then end_sessions((p->>'id')::uuid, 'password_changed') else '{}' end;
end $$;

-- The admin of the configuration: created, or made what the configuration says. True: an older password is replaced.
create function put_admin(p_email text, p_old text, p_new text) returns boolean language plpgsql as $$
declare u app_user;
begin
  insert into app_user (email, role, password_hash, email_verified_at) values (p_email, 'Admin', p_new, now())
  on conflict (email) do nothing;
  if found then return false; end if;
  update app_user set role = case when role = 'Super' then role else 'Admin' end, deactivated_at = null, deleted_at = null,
         invited_at = null, email_verified_at = coalesce(email_verified_at, now()), updated_at = now()
   where email = p_email returning * into u;
  if u.password_hash is not distinct from p_old and p_new is distinct from p_old then
    update app_user set password_hash = p_new where id = u.id;
    perform end_sessions(u.id, 'password_changed');
    return true;
  end if;
  return false;
end $$;
