-- What the service stores about a person, and what it removes when the person's account is deleted.

-- Locks the orders and transfers of a user. Turns lock entities before users, so delete_user calls this before it locks the user.
create or replace function hold_orders_and_transfers(who uuid) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare orders uuid[]; transfers uuid[];
begin
  orders := array(select id from entity where kind = 'order' and owner_id = who);
  transfers := array(select id from entity where kind = 'transfer' and owner_id = who
                     union select id from entity where kind = 'transfer' and peer_id = who);
  perform 1 from entity where kind = 'order' and id = any(orders) order by id for update;
  perform 1 from entity where kind = 'transfer' and id = any(transfers) order by id for update;
end $$;

-- Removes a deleted user's email addresses, messages and tracking data from orders and transfers, which stay. A turn that has read
-- such an entity before is refused by its version, reads it again and does not store the data again; this includes open orders that
-- have no such data yet. Does nothing for a user who is not deleted.
create or replace function forget_person(who uuid) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  perform 1 from app_user where id = who and deleted_at is not null;
  if not found then return; end if;
  update entity set state = state #- '{context,checkout,email}' #- '{context,tracking}', version = version + 1, turn = gen_random_uuid()
   where kind = 'order' and owner_id = who
     and (status in ('Draft', 'PendingPayment') or state->'context' ? 'tracking' or state->'context'->'checkout' ? 'email');
  update entity set state = jsonb_set(jsonb_set(state, '{context,sender,email}', 'null'), '{context,message}', 'null'),
         version = version + 1, turn = gen_random_uuid()
   where kind = 'transfer' and owner_id = who
     and coalesce(state->'context'->'sender'->>'email', state->'context'->>'message') is not null;
  update entity set state = jsonb_set(state, '{context,recipient,email}', '""'), version = version + 1, turn = gen_random_uuid()
   where kind = 'transfer' and peer_id = who and state->'context'->'recipient'->>'email' <> '';
  perform forget_owner(who);
  update app_user set proven_email = null, proven_at = null where id = who;
end $$;

-- Deletes the records and the stored data of those of the given ids that the deleted user still owns, as a transfer with clear_on_transfer
-- does. The expiry (tag 3) is set by the operator and stays. Returns the ids and their events.
create or replace function clear_kept_ids(who uuid, given text[]) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare ids text[]; gone jsonb;
begin
  ids := array(select e.canonical from emoji_id e join app_user u on u.id = e.owner_id
                where e.canonical = any(given) and u.id = who and u.deleted_at is not null order by e.canonical for update of e);
  delete from json_store where canonical = any(ids);
  with d as (delete from record r where r.canonical = any(ids) and r.tag <> 3 returning r.canonical, r.hash)
  select coalesce(jsonb_object_agg(x.canonical, x.hashes), '{}') into gone
    from (select d.canonical, jsonb_agg(d.hash) as hashes from d group by d.canonical) x;
  update emoji_id set merkle_root = null, signature = null, version = version + 1, updated_at = now() where canonical = any(ids);
  perform put_id_changes(jsonb_agg(jsonb_build_object('canonical', e.canonical, 'version', e.version, 'kind', 'records')))
     from emoji_id e where e.canonical = any(ids) having count(*) > 0;
  return jsonb_build_object('cleared', to_jsonb(ids), 'events', put_events((
    select coalesce(jsonb_agg(jsonb_build_object('channel', 'emoji_id:' || e.canonical, 'type', 'emoji_id.records',
             'data', jsonb_build_object('emoji_id', e.canonical, 'version', e.version, 'inserted', '[]'::jsonb,
                                        'deleted', coalesce(gone->e.canonical, '[]'))) order by e.canonical), '[]')
      from emoji_id e where e.canonical = any(ids))));
end $$;

-- Returns what is stored about a person, except orders, and without secrets: passwords, private keys and codes. Telephone numbers are
-- encrypted (`sealed_phone`). Returns null if there is no such user or the user was deleted.
create or replace function export_person(who uuid) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'account', (select view from user_view(u)) || jsonb_strip_nulls(jsonb_build_object(
        'has_password', u.password_hash is not null, 'former_email', u.proven_email, 'invited_at', wire_time(u.invited_at))),
    'two_factor', (select coalesce(jsonb_agg(jsonb_build_object(
        'provider', t.provider, 'sealed_phone', t.sealed_phone, 'is_default', t.is_default, 'created_at', wire_time(t.created_at),
        'confirmed_at', wire_time(t.confirmed_at), 'unused_backup_codes', cardinality(t.backup_hashes)) order by t.provider), '[]')
        from two_factor t where t.user_id = who),
    'sessions', (select coalesce(jsonb_agg(jsonb_build_object(
        'id', e.id, 'status', e.status, 'created_at', wire_time(e.created_at), 'last_used_at', wire_time(s.used_at),
        'device', e.state->'context'->'device') order by e.created_at), '[]')
        from entity e left join session_use s on s.session_id = e.id where e.kind = 'session' and e.owner_id = who),
    'api_keys', (select coalesce(jsonb_agg(jsonb_build_object(
        'id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', wire_time(k.created_at), 'expires_at', wire_time(k.expires_at),
        'last_used_at', wire_time(k.last_used_at)) order by k.created_at), '[]') from api_key k where k.user_id = who),
    'security_log', (select coalesce(jsonb_agg(jsonb_build_object(
        'event', l.event, 'at', wire_time(l.at), 'last_at', wire_time(l.last_at), 'count', l.count, 'via', l.via, 'actor_id', l.actor_id,
        'address', l.address, 'user_agent', l.user_agent, 'details', l.details) order by l.at, l.id), '[]')
        from security_log l where l.user_id = who),
    'login_links', (select coalesce(jsonb_agg(jsonb_build_object(
        'purpose', m.purpose, 'email', m.email, 'created_at', wire_time(m.created_at), 'expires_at', wire_time(m.expires_at),
        'used_at', wire_time(m.used_at)) order by m.created_at), '[]') from magic_link m where m.user_id = who),
    'messages', (select coalesce(jsonb_agg(jsonb_build_object(
        'recipient', o.recipient, 'kind', o.kind, 'at', wire_time(o.at), 'sent_at', wire_time(o.sent_at)) order by o.id), '[]')
        from outbox o where o.recipient in (u.email, u.alternate_id, u.proven_email)),
    'pubkeys', (select coalesce(jsonb_agg(jsonb_build_object(
        'pubkey', k.pubkey, 'is_custodial', k.sealed_key is not null, 'organization_id', k.organization_id,
        'created_at', wire_time(k.created_at)) order by k.created_at, k.pubkey), '[]') from pubkey k where k.user_id = who),
    'wallets', (select coalesce(jsonb_agg(jsonb_build_object(
        'eth_address', w.eth_address, 'source', w.source, 'created_at', wire_time(w.created_at)) order by w.created_at), '[]')
        from wallet w where w.user_id = who),
    'emoji_ids', (select coalesce(jsonb_agg(jsonb_build_object(
        'emoji_id', e.canonical, 'pubkey', e.pubkey, 'source', e.source, 'registered_at', wire_time(e.registered_at),
        'minted_at', wire_time(e.minted_at), 'records', (
          select coalesce(jsonb_agg(jsonb_build_object('tag', r.tag, 'data', r.data, 'created_at', wire_time(r.created_at))
                                    order by r.seq), '[]') from record r where r.canonical = e.canonical), 'stored_data', (
          select coalesce(jsonb_object_agg(j.key, j.data), '{}') from json_store j where j.canonical = e.canonical), 'history', (
          select coalesce(jsonb_agg(jsonb_build_object('version', c.version, 'kind', c.kind, 'at', wire_time(c.at),
                   'added', (select jsonb_agg(jsonb_build_object('tag', r.tag, 'data', r.data)) from unnest(c.added) r),
                   'removed', (select jsonb_agg(jsonb_build_object('tag', r.tag, 'data', r.data)) from unnest(c.removed) r),
                   'pubkey', c.pubkey_after) order by c.version), '[]')
            from emoji_id_change c where c.canonical = e.canonical and c.owner_id = who and c.former_owner_id is null))
        order by e.token_id), '[]') from emoji_id e where e.owner_id = who),
    'interests', (select coalesce(jsonb_agg(jsonb_build_object(
        'emoji_id', i.canonical, 'created_at', wire_time(i.created_at)) order by i.created_at), '[]')
        from user_interest i where i.user_id = who),
    'transfers_sent', (select coalesce(jsonb_agg(jsonb_build_object(
        'id', e.id, 'emoji_id', e.subject, 'status', e.status, 'created_at', wire_time(e.created_at),
        'recipient_email', e.state->'context'->'recipient'->>'email', 'message', e.state->'context'->>'message') order by e.created_at), '[]')
        from entity e where e.kind = 'transfer' and e.owner_id = who),
    'transfers_received', (select coalesce(jsonb_agg(jsonb_build_object(
        'id', e.id, 'emoji_id', e.subject, 'status', e.status, 'created_at', wire_time(e.created_at),
        'sender_email', e.state->'context'->'sender'->>'email', 'message', e.state->'context'->>'message') order by e.created_at), '[]')
        from entity e where e.kind = 'transfer' and e.peer_id = who and recipient_sees(e)),
    'lootboxes', (select coalesce(jsonb_agg(jsonb_build_object(
        'id', e.id, 'status', e.status, 'created_at', wire_time(e.created_at)) order by e.created_at), '[]')
        from entity e where e.kind = 'lootbox' and e.owner_id = who),
    'deleted_orders', (select coalesce(jsonb_agg(jsonb_build_object(
        'id', p.id, 'created_at', wire_time(p.created_at), 'cancelled_at', wire_time(p.cancelled_at)) order by p.created_at), '[]')
        from purged_order p where p.user_id = who),
    'payment_methods', (select coalesce(jsonb_agg(jsonb_build_object(
        'provider', m.provider, 'payment_type', m.payment_type, 'brand', m.brand, 'country', m.country, 'last4', m.last4,
        'exp_month', m.exp_month, 'exp_year', m.exp_year, 'created_at', wire_time(m.created_at), 'deleted_at', wire_time(m.deleted_at))
        order by m.created_at), '[]') from payment_method m where m.user_id = who),
    'organizations', (select coalesce(jsonb_agg(jsonb_build_object(
        'id', o.id, 'name', o.name, 'role', m.role, 'created_at', wire_time(m.created_at)) order by m.created_at), '[]')
        from organization_member m join organization o on o.id = m.organization_id where m.user_id = who),
    'features', (select coalesce(jsonb_agg(f.code order by f.code), '[]')
        from user_feature x join feature f on f.id = x.feature_id where x.user_id = who),
    'applications', (select coalesce(jsonb_agg(jsonb_build_object(
        'client_id', g.client_id, 'name', c.name, 'emoji_id', g.emoji_id, 'created_at', wire_time(g.created_at),
        'expires_at', wire_time(g.expires_at), 'revoked_at', wire_time(g.revoked_at)) order by g.created_at), '[]')
        from oauth_grant g left join oauth_client c on c.client_id = g.client_id where g.user_id = who),
    'partner_visits', (select coalesce(jsonb_agg(jsonb_build_object(
        'organization_id', v.organization_id, 'flow', v.flow, 'created_at', wire_time(v.created_at),
        'expires_at', wire_time(v.expires_at)) order by v.created_at), '[]') from partner_visit v where v.user_id = who))
    from app_user u where u.id = who and u.deleted_at is null
$$;
