-- What an application may do for a user: read the one id the user chose. The tokens carry the generation; only the newest counts.
create table oauth_grant (
  id         uuid        primary key,
  client_id  text        not null references oauth_client on delete cascade,
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

-- A code is a signed token; what is kept is that it exists and what was made of it.
create table authorization_code (
  jti        uuid        primary key,
  client_id  text        not null references oauth_client on delete cascade,
  user_id    uuid        not null references app_user on delete cascade,
  grant_id   uuid        references oauth_grant on delete set null,
  used_at    timestamptz,
  expires_at timestamptz not null
);
create index authorization_code_expires on authorization_code (expires_at);

-- A code becomes a grant, once. A second try ends what the first one made: one of the two was a thief.
create function redeem_code(p_jti uuid, p_client text, p_grant uuid, p_emoji_id text, p_epoch int, p_seconds int)
returns text language plpgsql as $$
declare c authorization_code;
begin
  select * into c from authorization_code where jti = p_jti and client_id = p_client for update;
  if not found then return 'unknown'; end if;
  if c.grant_id = p_grant then return 'redeemed'; end if;
  if c.used_at is not null then
    update oauth_grant set revoked_at = coalesce(revoked_at, now()) where id = c.grant_id;
    return 'reused';
  end if;
  if c.expires_at <= now() then return 'unknown'; end if;
  insert into oauth_grant (id, client_id, user_id, emoji_id, epoch, expires_at)
  values (p_grant, p_client, c.user_id, p_emoji_id, p_epoch, now() + make_interval(secs => p_seconds));
  update authorization_code set used_at = now(), grant_id = p_grant where jti = p_jti;
  return 'redeemed';
end $$;

-- The next generation of a grant's refresh token. Whoever asks at the same moment is given the same; an older token ends the grant.
create function rotate_grant(p_id uuid, p_client text, p_generation int, p_seconds int)
returns jsonb language plpgsql as $$
declare g oauth_grant; u app_user;
begin
  select * into g from oauth_grant where id = p_id and client_id = p_client for update;
  if not found or g.revoked_at is not null or g.expires_at <= now() then return '{"outcome": "gone"}'; end if;
  select * into u from app_user where id = g.user_id;
  if u.token_epoch <> g.epoch or u.deactivated_at is not null or u.deleted_at is not null then
    return '{"outcome": "gone"}';
  end if;
  if p_generation = g.generation then
    update oauth_grant set generation = generation + 1, rotated_at = now(), expires_at = now() + make_interval(secs => p_seconds)
     where id = p_id returning * into g;
  elsif p_generation <> g.generation - 1 or g.rotated_at < now() - interval '10 seconds' then
    update oauth_grant set revoked_at = now() where id = p_id;
    return jsonb_build_object('outcome', 'reused', 'user_id', g.user_id);
  end if;
  return jsonb_build_object('outcome', 'rotated', 'user_id', g.user_id, 'emoji_id', g.emoji_id, 'epoch', g.epoch,
                            'generation', g.generation, 'role', u.role);
end $$;

-- A person a partner has sent. What came along is sealed: a refresh token is part of it.
create table partner_visit (
  token_hash      text        primary key,
  organization_id uuid        not null references organization on delete cascade,
  flow            text        not null check (flow in ('get', 'connect', 'manage')),
  user_id         uuid        references app_user on delete cascade,
  session_id      uuid,                               -- the login the partner's token belongs to
  sealed_state    text        not null,
  order_id        uuid,                               -- bought in this visit; its ids are given the addresses
  written_at      timestamptz,
  created_at      timestamptz not null default now(),
  expires_at      timestamptz not null
);
create index partner_visit_expires on partner_visit (expires_at);
create index partner_visit_unwritten on partner_visit (order_id) where order_id is not null and written_at is null;
