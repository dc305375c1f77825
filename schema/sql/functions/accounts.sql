-- Functions for users: registration, login links, changes of accounts, API keys. The functions for second factors are
-- in two_factor.sql.

-- Whether a user without a second factor must be asked again to set one up: 30 days after the last time. The service
-- records the time when it issues tokens for a login (record_prompt) or registers the user.
create or replace function prompt_is_due(u app_user) returns boolean language sql stable as $$
  select coalesce(u.two_factor_last_prompted_at < now() - interval '30 days', true)
$$;

-- Returns a user in the form of API responses, without members that are null. `two_factor_should_prompt` is true for
-- a user without a second factor for one day after `two_factor_last_prompted_at`, so that every client of the user can
-- ask, and again when the next prompt is due.
--
-- In `from`, Postgres makes this function a part of the query. A function that returns one value is called for each row, if it
-- has subqueries: that takes three times as long.
create or replace function user_view(u app_user) returns table (view jsonb) language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'id', u.id, 'created_at', wire_time(u.created_at), 'updated_at', wire_time(u.updated_at),
    'free_limit', u.free_limit, 'remaining_free_emoji', greatest(u.free_limit - u.free_used, 0), 'role', u.role,
    'alternate_id', u.alternate_id, 'email', u.email, 'first_name', u.first_name, 'last_name', u.last_name,
    'source', u.source, 'is_active', u.deactivated_at is null, 'deactivated_at', wire_time(u.deactivated_at), 'email_verified_at', wire_time(u.email_verified_at),
    'two_factor_last_prompted_at', wire_time(u.two_factor_last_prompted_at),
    'partner_conversion_id', u.partner_conversion_id,
    'partner_transaction_id', coalesce(u.partner_transaction_id, u.partner_conversion_id),
    'pubkeys', (select coalesce(jsonb_agg(k.pubkey order by k.created_at, k.pubkey), '[]') from pubkey k where k.user_id = u.id),
    'two_factor_auth', (select coalesce(jsonb_agg(t.provider order by t.is_default desc, t.provider), '[]')
                          from two_factor t where t.user_id = u.id and t.confirmed_at is not null),
    'two_factor_should_prompt', not exists (select 1 from two_factor t where t.user_id = u.id and t.confirmed_at is not null)
                                and (prompt_is_due(u) or u.two_factor_last_prompted_at > now() - interval '1 day')))
$$;

-- Does the same for one user.
create or replace function display_user(u app_user) returns jsonb language sql stable as $$ select view from user_view(u) $$;

-- Records that the clients of a user ask the user now to set up a second factor.
create or replace function record_prompt(p_user uuid) returns void language sql as $$
  update app_user u set two_factor_last_prompted_at = now() where u.id = p_user and prompt_is_due(u)
$$;

-- Returns the data of a user that a new session needs. A function that changes the user calls it in a later statement.
create or replace function session_user_of(p_user uuid) returns jsonb language sql stable as $$
  select jsonb_build_object('id', u.id, 'role', u.role, 'epoch', u.token_epoch, 'has_password', u.password_hash is not null,
    'providers', (select coalesce(jsonb_agg(t.provider order by t.is_default desc, t.provider), '[]')
                    from two_factor t where t.user_id = u.id and t.confirmed_at is not null),
    'prompt_is_due', prompt_is_due(u))
    from app_user u where u.id = p_user
$$;

-- Locks a user. Returns false if there is no such user. Functions that add to a limited list call it first: without
-- the lock, concurrent requests would all count the list before one of them has written to it. The lock is a separate
-- statement, so that the next statement sees what other transactions committed while this one waited.
create or replace function hold_user(p_user uuid) returns boolean language plpgsql as $$
begin
  perform 1 from app_user where id = p_user and deleted_at is null for no key update;
  return found;
end $$;

-- Ends all login sessions of the user. Increases the token epoch: access tokens contain the epoch of their session,
-- and a token with a lower epoch is not valid. Returns the new epoch and the published events, or null if there is no
-- such user.
create or replace function end_sessions(p_user uuid, p_reason text) returns jsonb language plpgsql as $$
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

-- Stores a new password. Every change of a password uses this function: all sessions of the user end, and links that
-- were mailed to reset the previous password no longer work. API keys stay. Returns what end_sessions returns.
create or replace function set_password(p_user uuid, p_hash text) returns jsonb language plpgsql as $$
begin
  update app_user set password_hash = p_hash, updated_at = now() where id = p_user;
  update magic_link set used_at = now() where user_id = p_user and purpose = 'reset' and used_at is null;
  return end_sessions(p_user, 'password_changed');
end $$;

-- Sets a new password with a mailed link of purpose 'reset', and sends a notice. Returns null if the link is unknown,
-- used or expired, if the account is not active, or if the link was sent to an address that is no longer the account's
-- verified address. Returns what end_sessions returns, and `user` for the new session. The second factors stay. The user is locked before the link, in the same order as by a change of
-- the password.
create or replace function reset_password(p_hashes text[], p_attempt uuid, p_hash text, p_mail jsonb) returns jsonb language plpgsql as $$
declare who uuid; u app_user; ended jsonb;
begin
  select user_id into who from magic_link where token_hash = any(p_hashes) and purpose = 'reset';
  select * into u from app_user where id = who for update;
  if not found then return null; end if;
  update magic_link set used_at = now(), used_by = p_attempt
   where token_hash = any(p_hashes) and used_at is null and expires_at > now() and email = u.email
     and u.email_verified_at is not null and u.deactivated_at is null and u.deleted_at is null;
  if found then
    perform put_mail(p_mail);
    ended := set_password(who, p_hash);
    return ended || jsonb_build_object('user', session_user_of(who));
  end if;
  -- The same attempt, repeated after a lost response.
  if exists (select 1 from magic_link where token_hash = any(p_hashes) and used_by = p_attempt) then
    return jsonb_build_object('epoch', u.token_epoch, 'events', '[]'::jsonb, 'user', session_user_of(who));
  end if;
  return null;
end $$;

-- Whether an account owns an id or a lootbox, or has an incoming transfer. If an invited account does, only a person
-- who can read the mail of its address may claim the account.
create or replace function owns_something(p_user uuid) returns boolean language sql stable as $$
  select exists (select 1 from claim where owner_id = p_user)
      or exists (select 1 from entity where kind = 'lootbox' and owner_id = p_user)
      or exists (select 1 from entity where kind = 'transfer' and peer_id = p_user
                    and status in ('AwaitingSender', 'AwaitingReceiver'))
$$;

-- Creates a user with a custodial key and sends the welcome mail, or claims an invited account for the new user. Returns the user for a
-- new session. The caller chooses the id, so a repeated call returns the same user. An invited account that owns something is not claimed here, because
-- it belongs to the person who can read the mail of its address. For a claimed account the password is not stored:
-- the address is not verified yet, so the password could be a stranger's. The mailed link verifies the address and
-- ends everything that was set up before.
create or replace function register_user(p jsonb) returns jsonb language plpgsql as $$
declare u app_user; purpose text := p->'link'->>'purpose';
begin
  select * into u from app_user where id = (p->>'id')::uuid;
  if not found then
    update app_user set invited_at = null, updated_at = now(), two_factor_last_prompted_at = now(), alternate_id = coalesce(p->>'alternate_id', alternate_id),
           first_name = coalesce(p->>'first_name', first_name), last_name = coalesce(p->>'last_name', last_name),
           source = coalesce(p->>'source', source),
           partner_conversion_id = coalesce(p->>'partner_conversion_id', partner_conversion_id),
           partner_transaction_id = coalesce(p->>'partner_transaction_id', partner_transaction_id)
     where email = p->>'email' and invited_at is not null and password_hash is null
       and deactivated_at is null and deleted_at is null and not owns_something(id)
    returning * into u;
    if found then
      purpose := 'login';
    else
      insert into app_user (id, email, alternate_id, source, first_name, last_name, password_hash,
                            two_factor_last_prompted_at, partner_conversion_id, partner_transaction_id)
      values ((p->>'id')::uuid, p->>'email', p->>'alternate_id', p->>'source', p->>'first_name', p->>'last_name',
              p->>'password_hash', now(), p->>'partner_conversion_id', p->>'partner_transaction_id')
      returning * into u;
    end if;
    perform add_first_key(u.id, p->'key');
    if p ? 'link' then
      insert into magic_link (token_hash, user_id, email, purpose, expires_at)
      values (p->'link'->>'token_hash', u.id, u.email, purpose,
              now() + make_interval(secs => (p->'link'->>'seconds')::int));
      perform put_mail(p->'mail');
    end if;
  end if;
  return session_user_of(u.id);
end $$;

-- Stores a mailed link {token_hash, user_id, email, purpose, seconds} and its mail. Without a user, the link is stored,
-- but no mail: both cases take the same time. A link that is stored again is mailed once.
create or replace function put_magic_link(p jsonb, p_mail jsonb) returns boolean language plpgsql as $$
begin
  insert into magic_link (token_hash, user_id, email, purpose, expires_at)
  values (p->>'token_hash', (p->>'user_id')::uuid, p->>'email', p->>'purpose',
          now() + make_interval(secs => (p->>'seconds')::int))
  on conflict do nothing;
  if found and p->>'user_id' is not null then perform put_mail(p_mail); end if;
  return true;
end $$;

-- Consumes a magic link and marks the email address as verified. Returns null if the link is unknown, used or
-- expired. `user` is for the new session. `p_shown` are the ids of users whose password or session the request also contains. Otherwise the caller
-- has only the link and can be another person than the one who registered the address. In that case, for an address
-- that is not verified:
--   * Everything that was set up before the verification ends, including the password.
--   * But if the account has a password, and has verified another address before or has an alternate_id, then the new
--     address is removed from the account instead ("released"): the address was mistyped, or registered by someone
--     else.
--   * If such an account would then have neither a verified address nor an alternate_id, nothing is changed. The link
--     can be used again, together with the password ("needs_password").
create or replace function consume_magic_link(p_hashes text[], p_attempt uuid, p_shown text[]) returns jsonb language plpgsql as $$
declare l magic_link; u app_user; ended_sessions jsonb; events jsonb; keys text[];
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
    ended_sessions := end_sessions(u.id, 'claimed');
  end if;
  update app_user set email_verified_at = coalesce(email_verified_at, now()), invited_at = null, updated_at = now()
   where id = u.id;
  if u.email_verified_at is null then events := publish_waiting_transfers(u.id); end if;
  return jsonb_build_object('user_id', u.id, 'ended', ended_sessions, 'api_keys', coalesce(to_jsonb(keys), '[]'),
                            'events', coalesce(events, '[]'), 'user', session_user_of(u.id));
end $$;

-- Deletes everything that was set up while the address of an account was not verified, because a stranger may have
-- done it. Returns the ids of the deleted API keys. If the account had verified another address before, its second
-- factors are not deleted. Custodial keys stay: nobody but the service has their private keys, and a user always has a
-- key.
create or replace function end_unproven(u app_user) returns text[] language plpgsql as $$
declare keys text[];
begin
  with k as (delete from api_key where user_id = u.id returning id) select array_agg(id) into keys from k;
  delete from two_factor_failure where user_id = u.id and u.proven_at is null;
  delete from two_factor where user_id = u.id and u.proven_at is null;
  delete from sms_code where user_id = u.id and u.proven_at is null;
  delete from wallet where user_id = u.id;
  delete from pubkey k where k.user_id = u.id and k.sealed_key is null
     and not exists (select 1 from emoji_id e where e.pubkey = k.pubkey);
  return keys;
end $$;

-- Removes an unverified address from an account and restores the address that the account verified before. The account
-- has no address afterwards if it never verified one, or if another account now uses that address.
create or replace function give_back_address(u app_user) returns void language sql as $$
  update app_user set updated_at = now(), email = kept.email,
         email_verified_at = case when kept.email is not null then u.proven_at end
    from (select (select u.proven_email where not exists (select 1 from app_user o where o.email = u.proven_email)) as email) kept
   where id = u.id
$$;

-- Applies a user's changes to their own account together. A new email address is unverified, and a link is mailed to
-- it. A new password ends all sessions; the result then has `user` for a new session. With `revoke_api_keys` it also deletes all API keys. Returns null if
-- `old_hash` is no longer the stored password, or if the account was deleted. If a request is repeated after a lost
-- response, its link already exists, and no second mail is sent.
create or replace function update_account(p jsonb) returns jsonb language plpgsql as $$
declare is_new boolean := true; ended jsonb;
begin
  update app_user set updated_at = now(),
         first_name = case when p ? 'first_name' then nullif(p->>'first_name', '') else first_name end,
         last_name = case when p ? 'last_name' then nullif(p->>'last_name', '') else last_name end,
         email = coalesce(p->>'email', email),
         email_verified_at = case when p ? 'email' then null else email_verified_at end
   where id = (p->>'id')::uuid and deleted_at is null
     and (not p ? 'old_hash' or password_hash is not distinct from p->>'old_hash');
  if not found then
    -- If the new hash is already stored, this is the same change, repeated after a lost response.
    if not exists (select 1 from app_user where id = (p->>'id')::uuid and password_hash = p->>'new_hash') then return null; end if;
    ended := end_sessions((p->>'id')::uuid, 'password_changed');
    return ended || jsonb_build_object('user', session_user_of((p->>'id')::uuid));
  end if;
  if (p->>'revoke_api_keys')::boolean then delete from api_key where user_id = (p->>'id')::uuid; end if;
  if p ? 'link' then
    insert into magic_link (token_hash, user_id, email, purpose, expires_at)
    values (p->'link'->>'token_hash', (p->>'id')::uuid, p->>'email', p->'link'->>'purpose',
            now() + make_interval(secs => (p->'link'->>'seconds')::int))
    on conflict (token_hash) do nothing;
    is_new := found;
  end if;
  if p ? 'mail' and is_new then perform put_mail(p->'mail'); end if;
  if not p ? 'new_hash' then return '{}'; end if;
  ended := set_password((p->>'id')::uuid, p->>'new_hash');
  return ended || jsonb_build_object('user', session_user_of((p->>'id')::uuid));
end $$;

-- Creates the administrator that the settings name, or gives an existing account with this address that role. Returns
-- true if the password was the settings' earlier password (p_old) and was replaced with p_new. If the address was
-- registered but never verified, everything that was set up in that account is deleted: a second factor could lock
-- the administrator out, and keys and sessions could let a stranger in. If that account had verified another address
-- before, or has an alternate_id and a password, the address is removed from it instead, and a new account is
-- created. p_key is the custodial key of an account that has none.
create or replace function ensure_admin(p_email text, p_old text, p_new text, p_key jsonb) returns boolean language plpgsql as $$
declare was app_user; u app_user;
begin
  insert into app_user (email, role, password_hash, email_verified_at) values (p_email, 'Admin', p_new, now())
  on conflict (email) do nothing returning * into u;
  if found then
    perform add_first_key(u.id, p_key);
    return false;
  end if;
  select * into was from app_user where email = p_email for update;
  if found and was.email_verified_at is null
     and (was.proven_email is not null or (was.alternate_id is not null and was.password_hash is not null)) then
    perform give_back_address(was);
    return ensure_admin(p_email, p_old, p_new, p_key);
  end if;
  update app_user set role = case when role = 'Super' then role else 'Admin' end, deactivated_at = null, deleted_at = null,
         invited_at = null, email_verified_at = coalesce(email_verified_at, now()), updated_at = now()
   where email = p_email returning * into u;
  if was.id is not null and was.email_verified_at is null then
    perform end_unproven(was);
    perform end_sessions(u.id, 'claimed');
  end if;
  perform add_first_key(u.id, p_key);
  if u.password_hash is not distinct from p_old and p_new is distinct from p_old then
    perform set_password(u.id, p_new);
    return true;
  end if;
  return false;
end $$;

-- Whether this user is the only active administrator. An advisory lock lets one transaction check at a time, so that
-- two concurrent requests cannot remove the last two administrators.
create or replace function is_last_admin(who uuid) returns boolean language plpgsql as $$
begin
  perform pg_advisory_xact_lock(730214907);
  return exists (select 1 from app_user where id = who and role in ('Admin', 'Super') and deactivated_at is null)
     and not exists (select 1 from app_user where role in ('Admin', 'Super') and id <> who
                        and deactivated_at is null and deleted_at is null);
end $$;

-- Applies an administrator's changes to a user. `may_touch` lists the roles of the users whom the administrator may
-- change. Returns null if there is no such user, and only {"role"} if the administrator may not change that user.
-- Refuses to remove the last administrator ({"last_admin"}). A password set by an administrator is meant for the
-- owner of the address. So if the account has no alternate_id and never verified an address, everything that was set
-- up before is deleted. `revoke_api_keys` deletes the user's API keys, and `mail` is sent.
create or replace function update_user(who uuid, p jsonb, may_touch text[]) returns jsonb language plpgsql as $$
declare
  u app_user; events jsonb := '[]';
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
         deactivated_at = case when deactivates then coalesce(deactivated_at, now()) when activates then null else deactivated_at end,
         updated_at = now()
   where id = who returning * into u;
  if (p->>'revoke_api_keys')::boolean then delete from api_key where user_id = who; end if;
  if p ? 'mail' then perform put_mail(p->'mail'); end if;
  if p ? 'password_hash' then events := set_password(who, p->>'password_hash')->'events'; end if;
  if deactivates then events := events || (end_sessions(who, 'deactivated')->'events'); end if;
  return jsonb_build_object('user', display_user(u), 'events', events);
end $$;

-- Lists what a user would lose with the account: ids, orders pending payment, orders with money that was not
-- refunded, active transfers, lootboxes (including bought ones that are not delivered yet), and organizations without
-- another owner.
create or replace function user_holdings(who uuid) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'emoji_ids', (select coalesce(jsonb_agg(c.canonical order by c.canonical), '[]') from claim c where c.owner_id = who),
    'pending_orders', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                        where e.kind = 'order' and e.owner_id = who and e.status = 'PendingPayment'),
    'unspent_orders', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                        where e.kind = 'order' and e.owner_id = who and case
                          when e.status in ('Draft', 'Cancelled') then
                            (select coalesce(sum((p->>'cents')::bigint), 0)
                               from jsonb_array_elements(e.state->'context'->'payments') p)
                          > (select coalesce(sum((r->>'cents')::bigint), 0)
                               from jsonb_array_elements(e.state->'context'->'refunds') r where r->>'status' <> 'Failed')
                          when e.status = 'Paid' then
                            (select coalesce(-sum(l.cents), 0) from journal j join ledger_line l on l.journal_id = j.id
                              where j.order_id = e.id and l.account = 'overpaid')
                          > (select coalesce(sum((r->>'cents')::bigint), 0)
                               from jsonb_array_elements(e.state->'context'->'refunds') r where r->>'status' = 'Pending')
                          end),
    'active_transfers', (select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from entity e
                          where e.kind = 'transfer' and (e.owner_id = who or e.peer_id = who)
                            and e.status in ('AwaitingSender', 'AwaitingReceiver')),
    'lootboxes', (select coalesce(jsonb_agg(b.id order by b.created_at), '[]') from (
                    select e.id::text as id, e.created_at from entity e
                     where e.kind = 'lootbox' and e.owner_id = who and e.status = 'Owned'
                    union all
                    select x.id, e.created_at from entity e, jsonb_array_elements_text(e.state->'context'->'undelivered') as x(id)
                     where e.kind = 'order' and e.owner_id = who and e.status = 'Paid' and not exists (
                       select 1 from entity h where h.kind = 'lootbox' and h.id = x.id::uuid and h.owner_id = who)) b),
    'organizations', (select coalesce(jsonb_agg(m.organization_id order by m.organization_id), '[]') from organization_member m
                       where m.user_id = who and m.role = 'OrgOwner'
                         and not exists (select 1 from organization_member o where o.organization_id = m.organization_id
                                            and o.user_id <> who and o.role = 'OrgOwner')))
$$;

-- Deletes everything that identifies a person. An anonymous row remains, because orders, the ledger and reserved ids
-- refer to it. The email address and the alternate_id can be registered again immediately. Does not delete a user who
-- still holds something, unless `insists` is true. The ids then stay reserved under the anonymous account: otherwise
-- a stranger could register one and receive payments that are still sent to it. The organizations are locked first
-- and in the order of their ids, so that two concurrent requests cannot delete the last two owners.
create or replace function delete_user(who uuid, insists boolean, may_touch text[]) returns jsonb language plpgsql as $$
declare u app_user; held jsonb; ended jsonb;
begin
  if exists (select 1 from app_user where id = who and role in ('Admin', 'Super')) and is_last_admin(who) then
    return jsonb_build_object('role', 'Admin', 'last_admin', true);
  end if;
  perform 1 from organization o
   where exists (select 1 from organization_member m where m.organization_id = o.id and m.user_id = who and m.role = 'OrgOwner')
   order by o.id for update;
  perform hold_orders_and_transfers(who);
  select * into u from app_user where id = who and deleted_at is null for update;
  if not found then return null; end if;
  if u.role <> all (may_touch) then return jsonb_build_object('role', u.role); end if;
  held := user_holdings(who);
  if not insists and exists (select 1 from jsonb_each(held) h where h.value <> '[]') then
    return jsonb_build_object('held', held);
  end if;
  delete from outbox where recipient in (u.email, u.alternate_id);
  delete from magic_link where user_id = who or email = u.email;
  -- Another account may use the address that this one has left.
  if not exists (select 1 from app_user where email = u.proven_email and id <> who) then
    delete from outbox where recipient = u.proven_email;
    delete from magic_link where email = u.proven_email;
  end if;
  delete from api_key where user_id = who;
  delete from two_factor_failure where user_id = who;
  delete from two_factor where user_id = who;
  delete from sms_code where user_id = who;
  delete from security_log where user_id = who;
  delete from payment_method where user_id = who;
  delete from organization_member where user_id = who;
  delete from user_feature where user_id = who;
  delete from user_interest where user_id = who;
  delete from interest_notice where user_id = who;
  delete from wallet where user_id = who;
  delete from pubkey k where k.user_id = who and not exists (select 1 from emoji_id e where e.pubkey = k.pubkey);
  update app_user set email = null, alternate_id = null, first_name = null, last_name = null, source = null,
         partner_conversion_id = null, partner_transaction_id = null,
         password_hash = null, email_verified_at = null, role = 'User',
         deactivated_at = coalesce(deactivated_at, now()), deleted_at = now(), updated_at = now()
   where id = who returning * into u;
  ended := end_sessions(who, 'deleted');
  -- Ended sessions stay for some days. The device and the address that they were used from do not.
  update entity set state = state #- '{context,device}' where kind = 'session' and owner_id = who;
  perform forget_person(who);
  return jsonb_build_object('user', display_user(u), 'kept', held->'emoji_ids', 'events', ended->'events');
end $$;

-- Assigns a feature to a user, and returns the feature. Returns no row if there is no such user or feature.
create or replace function assign_feature(p_user uuid, p_feature uuid) returns table (id uuid, code text) language sql as $$
  with had as (
    select f.id, f.code, u.id as user_id from feature f, app_user u
     where f.id = p_feature and u.id = p_user and u.deleted_at is null for key share of u
  ), put as (
    insert into user_feature (user_id, feature_id) select had.user_id, had.id from had on conflict do nothing
  )
  select had.id, had.code from had
$$;

-- Adds an API key and returns it. Returns no row if there is no such user, if `expires_at` has passed, or if the user
-- has the maximum number of keys. Expired keys of the user are deleted if their place is needed. Also returns no row
-- for a key for sensitive operations (`sensitive`) of a user with a second factor, unless the creator has entered a
-- code (`has_code`). confirm_two_factor locks the user too, so a second factor that is enabled at the same time is
-- either seen here, or removes the sensitive operations from this key.
create or replace function add_api_key(p jsonb) returns setof api_key language plpgsql as $$
declare who uuid := (p->>'user_id')::uuid; expires timestamptz := (p->>'expires_at')::timestamptz; most int := (p->>'most')::int;
begin
  if hold_user(who) and not exists (select 1 from api_key where id = p->>'id') then
    delete from api_key where id in (
      select id from api_key where user_id = who and expires_at <= now() order by expires_at, id
       limit greatest((select count(*) from api_key where user_id = who) - most + 1, 0));
    insert into api_key (id, user_id, name, secret_hash, scopes, sensitive, expires_at, made_as)
    select p->>'id', who, p->>'name', p->>'hash', array(select jsonb_array_elements_text(p->'scopes')),
           (p->>'sensitive')::boolean, expires, u.role
      from app_user u
     where u.id = who
       and coalesce(expires > now(), true) and (select count(*) from api_key where user_id = who) < most
       and (not (p->>'sensitive')::boolean or (p->>'has_code')::boolean
            or not exists (select 1 from two_factor t where t.user_id = who and t.confirmed_at is not null))
    on conflict (id) do nothing;
  end if;
  return query select * from api_key where id = p->>'id';
end $$;

-- Ends the open sessions of a user except the newest ones, for each status. Also returns a row if exactly `keep` sessions are
-- open, because an earlier attempt may have ended the older ones.
create or replace function end_old_sessions(p_user uuid, keep int) returns table (events jsonb, session_ids text[])
language sql as $$
  with open as materialized (
    select id, version, row_number() over (partition by status = 'Pending' order by updated_at desc) as place from entity
     where kind = 'session' and owner_id = p_user and status not in ('Revoked', 'Expired')
  ), ended as (
    update entity e set status = 'Revoked', state = jsonb_set(e.state, '{value}', '"Revoked"'),
           version = e.version + 1, turn = gen_random_uuid(), due_at = null, updated_at = now()
      from open
     where e.kind = 'session' and e.id = open.id and e.version = open.version and open.place > keep
    returning e.id
  )
  select put_events(coalesce((select jsonb_agg(jsonb_build_object('channel', 'session:' || p_user,
           'type', 'session.logged_out', 'data', jsonb_build_object('session_id', id, 'reason', 'too_many_sessions')))
           from ended), '[]')), array(select id::text from ended)
   where exists (select 1 from open where place >= keep)
$$;
