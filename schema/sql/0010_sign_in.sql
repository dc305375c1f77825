-- OAuth clients and what users granted to them.

-- A third-party application. Its secret is shown once and stored as a hash.
create table oauth_client (
  client_id       text        primary key,
  organization_id uuid        references organization on delete cascade,
  name            text        not null,
  secret_hash     text        not null,
  redirect_uris   text[]      not null check (cardinality(redirect_uris) between 1 and 20),
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now()
);
create index oauth_client_organization on oauth_client (organization_id);

-- The right of a client to read the one id that the user chose. Tokens carry the generation; only the newest is valid. A deleted
-- client's grants stay, revoked, until their access tokens have expired (functions/triggers.sql).
create table oauth_grant (
  id         uuid        primary key,
  client_id  text        references oauth_client on delete set null,
  user_id    uuid        not null references app_user on delete cascade,
  emoji_id   text        not null,
  epoch      int         not null,                    -- the user's token epoch: a logout ends the grant too
  generation int         not null default 1,
  rotated_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_at timestamptz not null default now()
);
create index oauth_grant_user on oauth_grant (user_id) where revoked_at is not null;
create index oauth_grant_over on oauth_grant (least(expires_at, revoked_at));
create index oauth_grant_client on oauth_grant (client_id);

-- The code itself is a signed token. The row records that it exists and which grant it became.
create table authorization_code (
  jti        uuid        primary key,
  client_id  text        not null references oauth_client on delete cascade,
  user_id    uuid        not null references app_user on delete cascade,
  grant_id   uuid        references oauth_grant on delete set null,
  used_at    timestamptz,
  expires_at timestamptz not null
);
create index authorization_code_expires on authorization_code (expires_at);
-- Deleting a grant looks for its code; without the index it would read every code for each grant.
create index authorization_code_grant on authorization_code (grant_id) where grant_id is not null;
