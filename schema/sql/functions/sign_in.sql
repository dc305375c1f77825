-- Functions for the OAuth authorization-code flow.

-- Exchanges an authorization code for a grant. A code can be exchanged once. `reused`: it was exchanged before. Then the
-- caller revokes the grant of the first exchange, if the request is recent: only the caller knows
-- how long ago the request arrived.
create or replace function exchange_code(p_jti uuid, p_client text, p_grant uuid, p_emoji_id text, p_epoch int, p_seconds int)
returns text language plpgsql as $$
declare c authorization_code;
begin
  select * into c from authorization_code where jti = p_jti and client_id = p_client for update;
  if not found then return 'unknown'; end if;
  if c.grant_id = p_grant then return 'redeemed'; end if;
  if c.used_at is not null then return 'reused'; end if;
  if c.expires_at <= now() then return 'unknown'; end if;
  insert into oauth_grant (id, client_id, user_id, emoji_id, epoch, expires_at)
  values (p_grant, p_client, c.user_id, p_emoji_id, p_epoch, now() + make_interval(secs => p_seconds));
  update authorization_code set used_at = now(), grant_id = p_grant where jti = p_jti;
  return 'redeemed';
end $$;

-- Issues the next generation of a grant's refresh token. The previous token gets the same generation until the new
-- one is first used, but at most for 60 seconds: a client may send several requests at the same time, or repeat one
-- whose response was lost. `reused`: the token is older. Then the caller revokes the grant, if the request is recent. An
-- old token stays old, so it does not matter what happens in between.
create or replace function continue_grant(p_id uuid, p_client text, p_generation int, p_seconds int)
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
  elsif p_generation <> g.generation - 1 or g.rotated_at < now() - interval '60 seconds' then
    return jsonb_build_object('outcome', 'reused', 'user_id', g.user_id);
  end if;
  return jsonb_build_object('outcome', 'rotated', 'user_id', g.user_id, 'emoji_id', g.emoji_id, 'epoch', g.epoch,
                            'generation', g.generation, 'role', u.role);
end $$;

-- Ends a user's access for a client: revokes the grants, and deletes the codes that were not exchanged yet. The codes come
-- first, so a code that is exchanged at the same time has become a grant when the grants are revoked. Returns how many
-- usable grants there were.
create or replace function revoke_application(p_user uuid, p_client text) returns int language plpgsql as $$
declare ended int;
begin
  delete from authorization_code
   where user_id = p_user and client_id = p_client and used_at is null and expires_at > now();
  update oauth_grant set revoked_at = now()
   where user_id = p_user and client_id = p_client and revoked_at is null and expires_at > now();
  get diagnostics ended = row_count;
  return ended;
end $$;

-- The former exchange_code, for processes of release 0.2.0 while they are replaced. Dropped with the next release. If a code is
-- exchanged again, it revokes the grant of the first exchange.
create or replace function redeem_code(p_jti uuid, p_client text, p_grant uuid, p_emoji_id text, p_epoch int, p_seconds int)
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

-- The former continue_grant, for processes of release 0.2.0 while they are replaced. Dropped with the next release. A token that is
-- older than the previous one revokes the grant.
create or replace function rotate_grant(p_id uuid, p_client text, p_generation int, p_seconds int)
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
  elsif p_generation <> g.generation - 1 or g.rotated_at < now() - interval '60 seconds' then
    update oauth_grant set revoked_at = now() where id = p_id;
    return jsonb_build_object('outcome', 'reused', 'user_id', g.user_id);
  end if;
  return jsonb_build_object('outcome', 'rotated', 'user_id', g.user_id, 'emoji_id', g.emoji_id, 'epoch', g.epoch,
                            'generation', g.generation, 'role', u.role);
end $$;

-- Revokes the grants of clients that are about to be deleted. Returns the ids of the affected users. The clients are
-- locked first. So if a code is exchanged at the same time, either its grant is revoked here, or the exchange finds
-- no client.
create or replace function end_grants(p_clients text[]) returns text[] language plpgsql as $$
declare user_ids text[];
begin
  perform 1 from oauth_client where client_id = any(p_clients) order by client_id for update;
  with ended as (
    update oauth_grant set revoked_at = now() where client_id = any(p_clients) and revoked_at is null returning user_id
  ) select coalesce(array_agg(distinct user_id::text), '{}') into user_ids from ended;
  return user_ids;
end $$;
