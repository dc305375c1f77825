-- Users, login links, second factors, API keys, features. Sessions are entities.

-- A deleted user stays as a row without personal data, because orders, the ledger and ids refer to it.
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
  proven_at         timestamptz,                      -- set when the account leaves a verified address: when its first one was
                                                      -- verified. From then on the account has shown to have an owner
  proven_email      text,                             -- the verified address that it left last
  deactivated_at    timestamptz,
  deleted_at        timestamptz,
  invited_at        timestamptz,                      -- created for an address that ids were sent to, and not claimed yet
  token_epoch       int         not null default 0,   -- access tokens of an older epoch are invalid
  two_factor_last_prompted_at timestamptz,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now()
);
create index app_user_created on app_user (created_at, id);
create index app_user_email_order on app_user (email, id);
create index app_user_admins on app_user (id) where role in ('Admin', 'Super');
-- Search by the beginning of an email or an alternate_id. Collation "C" makes a prefix a range, whatever the database's collation.
create index app_user_email_begins on app_user (email collate "C");
create index app_user_alternate_begins on app_user (alternate_id collate "C");

-- A second factor that is on (confirmed) or being set up.
create table two_factor (
  user_id       uuid        not null references app_user on delete cascade,
  provider      text        not null check (provider in ('AuthenticatorApp', 'SMS')),
  sealed_secret text,
  sealed_phone  text,
  is_default    boolean     not null default false,
  last_step     bigint      not null default 0,       -- the newest TOTP step used: a code works once
  used_by       uuid,                                 -- the attempt that used it; the same attempt may ask again
  backup_hashes text[]      not null default '{}',    -- shown once at the set-up; each is removed when it is used
  confirmed_at  timestamptz,
  created_at    timestamptz not null default now(),
  primary key (user_id, provider)
);

-- The one valid SMS code of a user, for login or for the set-up of a phone that is not confirmed yet.
create table sms_code (
  user_id    uuid        not null references app_user on delete cascade,
  for_setup  boolean     not null,
  hash       text        not null,
  tries      int         not null default 0,
  used_by    uuid,
  expires_at timestamptz not null,
  primary key (user_id, for_setup)
);
create index sms_code_expires on sms_code (expires_at);

-- A link sent by mail. A request for an unknown address stores a row without a user, so that response times do not reveal
-- which addresses are registered.
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
-- Deleting a user must not read every link while the account is locked.
create index magic_link_user on magic_link (user_id) where user_id is not null;
create index magic_link_email on magic_link (email);

create table api_key (
  id          text        primary key,
  user_id     uuid        not null references app_user on delete cascade,
  name        text        not null,
  secret_hash text        not null,
  scopes      text[]      not null,
  made_as     text,                                   -- the user's role when the key was made: scopes inside an organization
                                                      -- must not become global when the user is promoted
  expires_at  timestamptz,
  created_at  timestamptz not null default now()
);
create index api_key_user on api_key (user_id, created_at);

-- Switches that an operator turns on for single users.
create table feature (
  id          uuid        primary key default gen_random_uuid(),
  code        text        not null unique,
  description text        not null default '',
  created_at  timestamptz not null default now()
);

create table user_feature (
  user_id    uuid        not null references app_user on delete cascade,
  feature_id uuid        not null references feature on delete cascade,
  created_at timestamptz not null default now(),
  primary key (user_id, feature_id)
);
create index user_feature_feature on user_feature (feature_id);
