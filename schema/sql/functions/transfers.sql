-- Moves ids to new owners. Locks the ids first, in the same order as edit_batch does. So it waits for an edit in
-- progress, and also clears the records that the edit wrote. Raises EI003 (owner_gone) if a recipient was deleted.
-- Raises EI003 (key_gone) if a key no longer belongs to the new owner: otherwise another user who has the key could
-- write to the id.
create or replace function put_moves(p jsonb) returns void language plpgsql as $$
declare before jsonb; removed jsonb; changes jsonb; gone uuid;
begin
  select jsonb_object_agg(l.canonical, jsonb_build_object('owner_id', l.owner_id, 'pubkey', l.pubkey)) into before
    from (select * from emoji_id where canonical in (select x->>'canonical' from jsonb_array_elements(p) x)
           order by canonical for update) l;
  with owner as materialized (
    select u.id, u.deleted_at from app_user u
     where u.id in (select x.owner_id from jsonb_to_recordset(p) as x(owner_id uuid)) order by u.id for key share)
  select id into gone from owner where deleted_at is not null limit 1;
  if gone is not null then
    raise exception using errcode = 'EI003', message = 'no such user', detail = 'owner_gone';
  end if;
  perform 1 from jsonb_to_recordset(p) as x(owner_id uuid, pubkey text)
   where x.pubkey is not null
     and not exists (select 1 from pubkey k where k.pubkey = x.pubkey and k.user_id = x.owner_id);
  if found then
    raise exception using errcode = 'EI003', message = 'no such key', detail = 'key_gone';
  end if;
  -- The registered pubkey (tag 0) is a key of the former owner. The expiry (tag 3) is set by the operator, so it stays.
  with d as (
    delete from record r using jsonb_to_recordset(p) as x(canonical text, clear_records boolean)
     where r.canonical = x.canonical and (r.tag = 0 or (x.clear_records and r.tag <> 3))
    returning r.canonical, jsonb_build_object('tag', r.tag, 'hash', r.hash, 'data', r.data) as entry)
  select coalesce(jsonb_object_agg(o.canonical, o.entries), '{}') into removed
    from (select d.canonical, jsonb_agg(d.entry) as entries from d group by d.canonical) o;
  delete from json_store j using jsonb_to_recordset(p) as x(canonical text, clear_records boolean)
   where j.canonical = x.canonical and x.clear_records;
  -- The former owner may have locked future writes. The lock does not apply to the new owner.
  update json_store j set locked_future_writes_at = null from jsonb_to_recordset(p) as x(canonical text)
   where j.canonical = x.canonical and j.locked_future_writes_at is not null;
  with c as (
    update emoji_id e
       set merkle_root = null, signature = null, owner_id = x.owner_id, pubkey = x.pubkey, version = e.version + 1, updated_at = now(),
           blocked_until = now() + make_interval(secs => x.blocked_seconds),
           owner_changed_at = case when e.owner_id <> x.owner_id then now() else e.owner_changed_at end
      from jsonb_to_recordset(p) as x(canonical text, owner_id uuid, pubkey text, blocked_seconds int)
     where e.canonical = x.canonical
    returning e.canonical, e.version, e.owner_id, e.pubkey, before->e.canonical as before
  )
  select jsonb_agg(jsonb_build_object(
           'canonical', c.canonical, 'version', c.version, 'owner_id', c.owner_id,
           'kind', case when c.before->>'owner_id' = c.owner_id::text then 'key' else 'owner' end,
           'former_owner_id', nullif(c.before->>'owner_id', c.owner_id::text),
           'pubkey_before', c.before->'pubkey', 'pubkey_after', c.pubkey, 'removed', removed->c.canonical))
    into changes from c;
  if coalesce(jsonb_array_length(changes), 0) <> jsonb_array_length(p) then
    raise exception 'an id that is not registered cannot move';
  end if;
  perform put_id_changes(changes);
end $$;

-- Whether the account has confirmed this address: its current address, or the one that it left last. An empty address
-- means that the sender entered a public key; then any confirmed address is enough.
create or replace function has_confirmed(u app_user, address text) returns boolean language sql stable as $$
  select case when address = '' then u.email_verified_at is not null or u.proven_at is not null
              else coalesce(u.email = address and u.email_verified_at is not null, false)
                or coalesce(u.proven_email = address, false) end
$$;

-- Whether the recipient of a transfer may see and use it. Anyone can register any address. So the account must first
-- confirm the address that the sender entered.
create or replace function recipient_sees(e entity) returns boolean language sql stable as $$
  select e.status = 'Accepted' or exists (
    select 1 from app_user u where u.id = e.peer_id and has_confirmed(u, e.state->'context'->'recipient'->>'email'))
$$;

-- Publishes the active transfers to a user whose address was just confirmed. Their earlier events were not published
-- to this user. Returns the channel and offset of each event. A transfer that another statement is changing is
-- skipped: the caller has locked the user, so waiting for the transfer could be a deadlock.
create or replace function publish_waiting_transfers(p_user uuid) returns jsonb language sql as $$
  with waiting as (
    update entity e set state = jsonb_set(e.state, '{context,recipientSees}', 'true'), version = e.version + 1,
           turn = gen_random_uuid(), updated_at = now()
      from (select x.id from entity x
             where x.kind = 'transfer' and x.peer_id = p_user and x.status in ('AwaitingSender', 'AwaitingReceiver')
               and x.state->'context'->'recipientSees' = 'false' and recipient_sees(x) for update of x skip locked) s
     where e.kind = 'transfer' and e.id = s.id
    returning e.*)
  select put_events(coalesce(jsonb_agg(jsonb_build_object(
           'channel', 'transfers:' || p_user, 'type', 'transfer.created', 'data', jsonb_build_object(
             'id', w.id, 'eid', w.subject, 'status', w.status, 'sender_id', w.owner_id, 'recipient_id', w.peer_id))
           order by w.created_at), '[]'))
    from waiting w
$$;

-- Counts an attempt to enter the code of a transfer, unless the user has entered too many wrong codes within
-- p_window: p_per_id for this id, or p_per_user in total. Then returns which limit is used up (`limit`), and when the
-- oldest counted attempt leaves the window. The user is locked, so concurrent attempts are counted one after another.
-- A repeated call with the same p_attempt counts once.
create or replace function take_transfer_attempt(
  p_attempt uuid, p_user uuid, p_eid text, p_per_id int, p_per_user int, p_window interval) returns jsonb language plpgsql as $$
declare used_up text; since timestamptz;
begin
  perform hold_user(p_user);
  if not exists (select 1 from wrong_transfer_code where id = p_attempt) then
    select l.name, l.since into used_up, since from (
      select 'user' as name, (select w.at from wrong_transfer_code w where w.user_id = p_user and w.at > now() - p_window
                               order by w.at desc offset p_per_user - 1 limit 1) as since
      union all
      select 'id', (select w.at from wrong_transfer_code w where w.user_id = p_user and w.eid = p_eid and w.at > now() - p_window
                     order by w.at desc offset p_per_id - 1 limit 1)) l
     where l.since is not null order by l.since desc limit 1;
    if used_up is null then
      insert into wrong_transfer_code (id, user_id, eid) values (p_attempt, p_user, p_eid);
    end if;
  end if;
  return jsonb_build_object('limit', used_up, 'free_at', wire_time(since + p_window),
                            'wait_seconds', coalesce(extract(epoch from since + p_window - now()), 0));
end $$;
