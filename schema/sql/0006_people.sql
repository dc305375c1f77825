-- Features are switches an operator turns on for single users.
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

-- Somebody wants to hear when an id becomes free.
create table user_interest (
  id          uuid        primary key default gen_random_uuid(),
  user_id     uuid        not null references app_user on delete cascade,
  canonical   text        not null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  unique (user_id, canonical)
);
create index user_interest_canonical on user_interest (canonical, created_at, id);

-- An Ethereum address whose holder signed for this user. One wallet may be linked to several of its holder's users.
create table wallet (
  user_id     uuid        not null references app_user on delete cascade,
  eth_address text        not null,
  source      text        not null,
  created_at  timestamptz not null default now(),
  primary key (user_id, eth_address)
);

-- A third-party application of the authorization-code flow. The secret is shown once and kept as a hash.
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

-- Parts of the demo data this database already has.
create table demo_part (
  name text        primary key,
  at   timestamptz not null default now()
);

create index app_user_email_order on app_user (email, id);

create function display_organization(o organization) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'id', o.id, 'name', o.name, 'partner_path', o.partner_path, 'return_link', o.return_link,
    'created_at', wire_time(o.created_at), 'updated_at', wire_time(o.updated_at)))
$$;

create function display_branding(o organization) returns jsonb language sql stable as $$
  select jsonb_build_object('currencies', '[]'::jsonb, 'requires_email', false) || jsonb_strip_nulls(o.branding)
      || jsonb_build_object('organization_id', o.id, 'name', o.name, 'return_link', coalesce(o.return_link, ''),
                            'created_at', wire_time(o.created_at), 'updated_at', wire_time(o.updated_at))
$$;

-- An administrator's change to a user. `may_touch` are the roles the administrator ranks at or above. Answers null when
-- there is no such user, and only {"role"} when the user is out of reach.
create function update_user(who uuid, p jsonb, may_touch text[]) returns jsonb language plpgsql as $$
declare
  u app_user; given jsonb := '[]';
  deactivates boolean := coalesce((p->>'active')::boolean = false, false);
  activates   boolean := coalesce((p->>'active')::boolean, false);
begin
  select * into u from app_user where id = who and deleted_at is null for update;
  if not found then return null; end if;
  if u.role <> all (may_touch) then return jsonb_build_object('role', u.role); end if;
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

-- Takes the second factors of somebody who has lost them. The sessions end: one of them may be why.
create function destroy_two_factor(who uuid, may_touch text[]) returns jsonb language plpgsql as $$
declare u app_user; given jsonb := '[]';
begin
  select * into u from app_user where id = who and deleted_at is null for update;
  if not found then return null; end if;
  if u.role <> all (may_touch) then return jsonb_build_object('role', u.role); end if;
  if disable_two_factor(who, null) > 0 then given := end_sessions(who, 'two_factor_removed')->'events'; end if;
  select * into u from app_user where id = who;
  return jsonb_build_object('user', display_user(u), 'events', given);
end $$;

-- What a user still holds that would be stranded with the account.
create function user_holdings(who uuid) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'emoji_ids', (select coalesce(jsonb_agg(c.canonical order by c.canonical), '[]') from claim c where c.owner_id = who),
    'pending_orders', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                        where e.kind = 'order' and e.owner_id = who and e.status = 'PendingPayment'),
    'active_transfers', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                          where e.kind = 'transfer' and (e.owner_id = who or e.peer_id = who)
                            and e.status in ('AwaitingSender', 'AwaitingReceiver')),
    'lootboxes', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                   where e.kind = 'lootbox' and e.owner_id = who and e.status = 'Owned'))
$$;

-- Deletes what identifies a person and leaves a nameless row that orders, ledger and kept ids refer to. Email and
-- alternate_id are free to register again at once. Refuses while something is held, unless the caller insists; then the ids
-- stay reserved under the nameless account, because releasing one would let a stranger receive what is still sent to it.
create function delete_user(who uuid, insists boolean, may_touch text[]) returns jsonb language plpgsql as $$
declare u app_user; held jsonb;
begin
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

-- Who may do what in the organization changes; the last owner stays unless an operator insists.
create function set_member(org uuid, who uuid, new_role text, insists boolean) returns text language plpgsql as $$
begin
  perform 1 from organization where id = org for update;
  if not found then return 'no_organization'; end if;
  perform 1 from app_user where id = who and deleted_at is null;
  if not found and new_role is not null then return 'no_user'; end if;
  if not insists and new_role is distinct from 'OrgOwner'
     and exists (select 1 from organization_member where organization_id = org and user_id = who and role = 'OrgOwner')
     and not exists (select 1 from organization_member where organization_id = org and user_id <> who and role = 'OrgOwner') then
    return 'last_owner';
  end if;
  if new_role is null then
    delete from organization_member where organization_id = org and user_id = who;
    return case when found then 'done' else 'no_member' end;
  end if;
  insert into organization_member (organization_id, user_id, role) values (org, who, new_role)
    on conflict (organization_id, user_id) do update set role = excluded.role;
  return 'done';
end $$;
