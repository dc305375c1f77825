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

