-- Functions for emoji ids and their records.

-- Registers ids for their owners. Raises EI003 (owner_gone) if an owner was deleted, because a deleted account must
-- not own ids. The lock on the owner makes a concurrent deletion wait. If the chosen key no longer belongs to the
-- owner, the owner's first key is used. The version of an id continues from the offset of its channel: the channel
-- remains after an id is removed, and has one event per version. So a client that stores records with their version
-- always sees that the records of the next owner are newer. An id that was registered before changes its owner now, which
-- send-ready answers warn about. `display` is the record that contains the id with the
-- skin tones of the request.
create or replace function put_grants(p jsonb) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare gone uuid;
begin
  with owner as materialized (
    select u.id, u.deleted_at from app_user u
     where u.id in (select x.owner_id from jsonb_to_recordset(p) as x(owner_id uuid)) order by u.id for key share)
  select id into gone from owner where deleted_at is not null limit 1;
  if gone is not null then
    raise exception using errcode = 'EI003', message = 'no such user', detail = 'owner_gone';
  end if;
  with made as (
    insert into emoji_id (canonical, owner_id, pubkey, source, version, owner_changed_at)
    select x.canonical, x.owner_id,
           coalesce((select k.pubkey from pubkey k where k.pubkey = x.pubkey and k.user_id = x.owner_id),
                    (select k.pubkey from pubkey k where k.user_id = x.owner_id order by k.created_at, k.pubkey limit 1)),
           x.source, 1 + coalesce(c."offset", 0), case when c."offset" > 0 then now() end
      from jsonb_to_recordset(p) as x(canonical text, owner_id uuid, pubkey text, source text)
      left join channel c on c.name = 'emoji_id:' || x.canonical order by x.canonical
    returning canonical, version, owner_id, pubkey
  ), history as (
    insert into emoji_id_change (canonical, version, kind, owner_id, pubkey_after)
    select m.canonical, m.version, 'registered', m.owner_id, m.pubkey from made m
  )
  insert into id_notice (user_id, canonical, version, kind, is_mailed)
  select m.owner_id, m.canonical, m.version, 'registered', false from made m;
  if p @? '$[*].display' then
    insert into record (canonical, hash, tag, data)
    select x.canonical, x.display->>'hash', 1, x.display->>'data'
      from jsonb_to_recordset(p) as x(canonical text, display jsonb) where x.display is not null;
    update emoji_id_change c set added = array[row(1, x.display->>'hash', x.display->>'data')::changed_record]
      from jsonb_to_recordset(p) as x(canonical text, display jsonb), emoji_id e
     where x.display is not null and e.canonical = x.canonical and c.canonical = e.canonical and c.version = e.version;
  end if;
end $$;

-- Whether a user may write to an id: as its owner, as the holder of its key, or with a role in the organization of
-- the key.
create or replace function may_write(e emoji_id, p_user uuid, p_organizations uuid[]) returns boolean language sql stable as $$
  select e.owner_id = p_user
      or exists (select 1 from pubkey k where k.pubkey = e.pubkey
                    and (k.user_id = p_user or k.organization_id = any (p_organizations)))
$$;

-- Applies a batch of edits. Each edit is applied completely or not at all. A batch must not contain two edits of the
-- same id. Edits are numbered from 1 (n); deletes, inserts and stores contain the number of their edit.
--   edits    {n, canonical, user_id, organizations, admin, expected, merkle_root, signature, key (of the store)}
--   deletes  {n, canonical, hash, secure (may delete the tags that only the operator writes: 0 and 3)}
--   inserts  {n, canonical, hash, tag, data, single_key, replaces (deletes records with the same single_key), key}
--   stores   {n, canonical, key, data, unlocked, locked_future_writes_at, linked (inserts are all of the key's
--            records)}
--   keys     {n, caller, key, run}: the Idempotency-Keys of the edits that have one. The keys of the edits that changed
--            something are committed with the version and the store entry, see commit_keys
-- Returns these members:
--   refused   by n, the first reason of this list that applies: absent, forbidden, stale (the version is not the
--             expected one), locked (with the time), unknown, secured or duplicate (with the hashes)
--   changed   the numbers of the edits that changed something; `versions` and `ends` have, for each of them, the new
--             version and the last offset of the id's channel
--   stored    the store entries, by id
-- The plans do not depend on the values, and planning the last statement takes longer than its execution, so they are generic.
-- Ids are locked in their order. Raises EI003 if an id would have more than max_records records, and EI004 if an attempt has
-- lost its key.
create or replace function edit_batch(p jsonb, max_records int) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  deletes jsonb := p->'deletes'; inserts jsonb := p->'inserts'; stores jsonb := p->'stores';
  live int[]; one record; refused jsonb := '{}'; stored jsonb := '{}';
  gone_of text[] := '{}'; gone_row changed_record[] := '{}'; gone jsonb := '{}';
  came_of text[] := '{}'; came_row changed_record[] := '{}'; came jsonb := '{}';
  changed int[]; versions bigint[]; said jsonb;
begin
  with held as materialized (
    select w.n from (select x.n, x.canonical from jsonb_to_recordset(p->'edits') as x(n int, canonical text)
                      order by x.canonical) w
      join emoji_id e on e.canonical = w.canonical for update of e)
  select coalesce(array_agg(h.n), '{}') into live from held h;

  -- This is a separate statement, so that it sees commits that happened while the statement above waited for locks.
  for one in
    select x.n, 1 as rank, jsonb_build_object('outcome', j.outcome) as why
      from jsonb_to_recordset(p->'edits')
             as x(n int, canonical text, user_id uuid, organizations jsonb, admin boolean, expected bigint)
      left join emoji_id e on e.canonical = x.canonical and x.n = any(live)
     cross join lateral (select case
             when e.canonical is null then 'absent'
             when e.owner_id is distinct from x.user_id and not x.admin and not may_write(
                    e, x.user_id, array(select jsonb_array_elements_text(x.organizations)::uuid)) then 'forbidden'
             when x.expected <> e.version then 'stale' end) as j(outcome)
     where j.outcome is not null
    union all
    select x.n, 2, jsonb_build_object('outcome', 'locked', 'at', wire_time(s.locked_future_writes_at))
      from jsonb_to_recordset(stores) as x(n int, canonical text, key text, unlocked boolean)
      join json_store s on s.canonical = x.canonical and s.key = x.key
     where s.locked_future_writes_at <= now() and not x.unlocked
    union all
    select x.n, 3, jsonb_build_object('outcome', 'unknown', 'hashes', jsonb_agg(x.hash))
      from jsonb_to_recordset(deletes) as x(n int, canonical text, hash text)
     where not exists (select 1 from record r where r.canonical = x.canonical and r.hash = x.hash)
     group by x.n
    union all
    -- The release before does not send `secure`.
    select x.n, 4, jsonb_build_object('outcome', 'secured', 'hashes', jsonb_agg(x.hash))
      from jsonb_to_recordset(deletes) as x(n int, canonical text, hash text, secure boolean)
      join record r on r.canonical = x.canonical and r.hash = x.hash
     where not x.secure and r.tag in (0, 3)
     group by x.n
    union all
    select x.n, 5, jsonb_build_object('outcome', 'duplicate', 'hashes', jsonb_agg(x.hash))
      from jsonb_to_recordset(inserts) as x(n int, canonical text, hash text, key text)
     where x.key is null and exists (select 1 from record r where r.canonical = x.canonical and r.hash = x.hash)
       and not exists (select 1 from jsonb_to_recordset(deletes) as d(n int, hash text) where d.n = x.n and d.hash = x.hash)
     group by x.n
    order by 2
  loop
    if not refused ? one.n::text then refused := refused || jsonb_build_object(one.n, one.why); end if;
    live := array_remove(live, one.n);
  end loop;

  -- Deletes records that were linked only by this store key and are not in the new list. Records of the new list that
  -- exist are not changed except for their links. Records that were written without a store key are not deleted.
  if stores @? '$[*] ? (@.linked == true)' then
    with d as (
      delete from record r
       using jsonb_to_recordset(stores) as x(n int, canonical text, key text, unlocked boolean, linked boolean)
       where x.linked and x.n = any(live) and r.canonical = x.canonical and r.linked_keys = array[x.key]
         and (r.tag not in (0, 3) or x.unlocked)
         and not exists (select 1 from jsonb_to_recordset(inserts) as i(n int, hash text) where i.n = x.n and i.hash = r.hash)
      returning r.canonical, row(r.tag, r.hash, r.data)::changed_record as entry)
    select coalesce(array_agg(d.canonical), '{}'), coalesce(array_agg(d.entry), '{}') into gone_of, gone_row from d;
    update record r
       set linked_keys = case when x.key = any(r.linked_keys) then array_remove(r.linked_keys, x.key)
                              else r.linked_keys || x.key end
      from jsonb_to_recordset(stores) as x(n int, canonical text, key text, linked boolean)
     where x.linked and x.n = any(live) and r.canonical = x.canonical and (x.key = any(r.linked_keys)) <>
           exists (select 1 from jsonb_to_recordset(inserts) as i(n int, hash text) where i.n = x.n and i.hash = r.hash);
  end if;

  if deletes <> '[]' then
    with d as (
      delete from record r using jsonb_to_recordset(deletes) as x(n int, canonical text, hash text)
       where x.n = any(live) and r.canonical = x.canonical and r.hash = x.hash
      returning r.canonical, row(r.tag, r.hash, r.data)::changed_record as entry)
    select gone_of || coalesce(array_agg(d.canonical), '{}'), gone_row || coalesce(array_agg(d.entry), '{}')
      into gone_of, gone_row from d;
  end if;

  if inserts @? '$[*] ? (@.replaces == true)' then
    with d as (
      delete from record r
       using jsonb_to_recordset(inserts) as x(n int, canonical text, single_key text, replaces boolean)
       where x.replaces and x.n = any(live) and r.canonical = x.canonical and r.single_key = x.single_key
         and not exists (select 1 from jsonb_to_recordset(inserts) as i(n int, hash text) where i.n = x.n and i.hash = r.hash)
      returning r.canonical, row(r.tag, r.hash, r.data)::changed_record as entry)
    select gone_of || coalesce(array_agg(d.canonical), '{}'), gone_row || coalesce(array_agg(d.entry), '{}')
      into gone_of, gone_row from d;
  end if;

  if inserts <> '[]' then
    with i as (
      insert into record (canonical, hash, tag, data, single_key, linked_keys)
      select x.canonical, x.hash, x.tag, x.data, x.single_key, case when x.key is not null then array[x.key] end
        from rows from (jsonb_to_recordset(inserts)
               as (n int, canonical text, hash text, tag int, data text, single_key text, key text)) with ordinality
             as x(n, canonical, hash, tag, data, single_key, key, place)
       where x.n = any(live) order by x.place
      on conflict (canonical, hash) do nothing returning canonical, hash, tag, data
    )
    select coalesce(array_agg(i.canonical), '{}'), coalesce(array_agg(row(i.tag, i.hash, i.data)::changed_record), '{}')
      into came_of, came_row from i;
    came := (select coalesce(jsonb_object_agg(o.canonical, o.hashes), '{}')
               from (select x.canonical, jsonb_agg(x.hash) as hashes
                       from unnest(came_of, came_row) as x(canonical, tag, hash, data) group by x.canonical) o);
    if exists (select 1 from jsonb_object_keys(came) x(canonical)
                where (select count(*) from record r where r.canonical = x.canonical) > max_records) then
      raise exception using errcode = 'EI003', message = 'too many records', detail = 'records';
    end if;
  end if;

  if stores <> '[]' then
    with s as (
      insert into json_store as j (canonical, key, data, locked_future_writes_at)
      select x.canonical, x.key, x.data, x.locked_future_writes_at
        from jsonb_to_recordset(stores)
               as x(n int, canonical text, key text, data text, locked_future_writes_at timestamptz)
       where x.n = any(live)
      on conflict (canonical, key) do update set data = excluded.data, updated_at = now(),
         locked_future_writes_at = coalesce(excluded.locked_future_writes_at, j.locked_future_writes_at)
      returning j.*)
    select coalesce(jsonb_object_agg(s.canonical, jsonb_strip_nulls(jsonb_build_object(
             'created_at', wire_time(s.created_at), 'updated_at', wire_time(s.updated_at),
             'is_locked', coalesce(s.locked_future_writes_at <= now(), false),
             'locked_future_writes_at', wire_time(s.locked_future_writes_at)))), '{}') into stored from s;
  end if;

  if gone_of <> '{}' then
    gone := (select jsonb_object_agg(d.canonical, d.hashes)
               from (select x.canonical, jsonb_agg(x.hash) as hashes
                       from unnest(gone_of, gone_row) as x(canonical, tag, hash, data) group by x.canonical) d);
  end if;
  with c as (
    update emoji_id e
       set version = e.version + 1, updated_at = now(), merkle_root = x.merkle_root, signature = x.signature
      from jsonb_to_recordset(p->'edits') as x(n int, canonical text, merkle_root text, signature text, key text)
     where e.canonical = x.canonical and x.n = any(live)
       and (came ? x.canonical or gone ? x.canonical or x.key is not null or x.merkle_root is not null)
    returning x.n, x.key, e.canonical, e.version, e.owner_id, e.signature
  ), added as materialized (
    select x.canonical, array_agg(row(x.tag, x.hash, x.data)::changed_record) as records, bool_or(is_payment_tag(x.tag)) as pays
      from unnest(came_of, came_row) as x(canonical, tag, hash, data) group by x.canonical
  ), removed as materialized (
    select x.canonical, array_agg(row(x.tag, x.hash, x.data)::changed_record) as records, bool_or(is_payment_tag(x.tag)) as pays
      from unnest(gone_of, gone_row) as x(canonical, tag, hash, data) group by x.canonical
  ), told as materialized (
    select c.*, row_number() over (order by c.canonical) as place, a.records as added, r.records as removed,
           coalesce(a.pays, false) or coalesce(r.pays, false) as pays,
           case when a.records is not null or r.records is not null then 'records'
                when c.key is null then 'signature' else 'data' end as kind
      from c left join added a on a.canonical = c.canonical left join removed r on r.canonical = c.canonical
  ), history as (
    -- Postgres does not inline shorten_records, and a call costs more than the rest of the row. So only long lists are sent to it.
    insert into emoji_id_change (canonical, version, kind, owner_id, added, removed, store_key, signed)
    select t.canonical, t.version, t.kind, t.owner_id,
           case when pg_column_size(t.added) > 16384 then shorten_records(t.added) else t.added end,
           case when pg_column_size(t.removed) > 16384 then shorten_records(t.removed) else t.removed end,
           t.key, case when t.signature is not null then true end
      from told t
  ), notices as (
    insert into id_notice (user_id, canonical, version, kind, is_mailed)
    select t.owner_id, t.canonical, t.version, t.kind, t.pays from told t
  )
  select array_agg(t.n order by t.place), array_agg(t.version order by t.place), jsonb_build_object(
           'channels', jsonb_agg(jsonb_build_object('name', 'emoji_id:' || t.canonical, 'events', 1) order by t.place),
           'events', jsonb_agg(jsonb_build_object(
             'channel', t.place, 'after', 0, 'type', 'emoji_id.records', 'data', jsonb_strip_nulls(jsonb_build_object(
               'emoji_id', t.canonical, 'version', t.version, 'inserted', coalesce(came->t.canonical, '[]'),
               'deleted', coalesce(gone->t.canonical, '[]'), 'store_key', t.key))) order by t.place))
    into changed, versions, said from told t;
  if p ? 'keys' then
    perform commit_keys(k.list) from (
      select jsonb_agg(jsonb_build_object('caller', x.caller, 'key', x.key, 'run', x.run, 'rows', jsonb_build_array(
               jsonb_strip_nulls(jsonb_build_object('version', c.version, 'store', stored->e.canonical))))) as list
        from jsonb_to_recordset(p->'keys') as x(n int, caller text, key text, run uuid)
        join unnest(changed, versions) as c(n, version) on c.n = x.n
        join jsonb_to_recordset(p->'edits') as e(n int, canonical text) on e.n = x.n) k
     where k.list is not null;
  end if;
  return jsonb_build_object('refused', refused, 'changed', coalesce(changed, '{}'), 'versions', versions,
                            'ends', case when changed is not null then place_said(said)->'ends' end, 'stored', stored);
end $$;

-- Does the same as edit_batch for one edit of records, which is most of what is edited while the service is not busy. A few
-- short statements with typed parameters cost half of the statements for any number of edits, most of which is their start.
--   deletes      the hashes of records to delete
--   hashes, tags, texts, single_keys   the records to insert
--   replaced     the single keys of inserted records that replace those with the same one
--   once         the Idempotency-Key {caller, key, run}, or null
-- Returns the outcome: changed (with the version and the offset of the id's channel), unchanged, or why the edit was refused.
create or replace function edit_records(
  id text, editor uuid, organizations uuid[], is_admin boolean, may_secure boolean, expected bigint, root text, root_signature text,
  deletes text[], hashes text[], tags int[], texts text[], single_keys text[], replaced text[], once jsonb, max_records int)
returns jsonb language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  old emoji_id; wrong jsonb; came changed_record[]; gone changed_record[]; came_hashes text[]; gone_hashes text[];
  pays boolean; paid boolean; total int; place bigint; event_data jsonb;
begin
  select e.* into old from emoji_id e where e.canonical = id for update;
  if not found then return '{"outcome": "absent"}'; end if;
  if old.owner_id is distinct from editor and not is_admin and not may_write(old, editor, organizations) then
    return '{"outcome": "forbidden"}';
  end if;
  if expected <> old.version then return '{"outcome": "stale"}'; end if;
  if deletes <> '{}' then
    select jsonb_agg(x.hash) into wrong from unnest(deletes) as x(hash)
     where not exists (select 1 from record r where r.canonical = id and r.hash = x.hash);
    if wrong is not null then return jsonb_build_object('outcome', 'unknown', 'hashes', wrong); end if;
    if not may_secure then
      select jsonb_agg(r.hash) into wrong from record r where r.canonical = id and r.hash = any(deletes) and r.tag in (0, 3);
      if wrong is not null then return jsonb_build_object('outcome', 'secured', 'hashes', wrong); end if;
    end if;
  end if;
  if hashes <> '{}' then
    select jsonb_agg(r.hash) into wrong from record r
     where r.canonical = id and r.hash = any(hashes) and r.hash <> all(deletes);
    if wrong is not null then return jsonb_build_object('outcome', 'duplicate', 'hashes', wrong); end if;
  end if;

  if deletes <> '{}' or replaced <> '{}' then
    with d as (
      delete from record r
       where r.canonical = id and (r.hash = any(deletes) or r.single_key = any(replaced) and r.hash <> all(hashes))
      returning r.tag, r.hash, r.data)
    select array_agg(row(d.tag, d.hash, d.data)::changed_record), array_agg(d.hash), bool_or(is_payment_tag(d.tag))
      into gone, gone_hashes, paid from d;
  end if;
  if hashes <> '{}' then
    -- The count does not include what this statement inserts.
    with i as (
      insert into record (canonical, hash, tag, data, single_key)
      select id, x.hash, x.tag, x.data, x.single_key from unnest(hashes, tags, texts, single_keys) as x(hash, tag, data, single_key)
      on conflict (canonical, hash) do nothing returning tag, hash, data)
    select array_agg(row(i.tag, i.hash, i.data)::changed_record), array_agg(i.hash), bool_or(is_payment_tag(i.tag)),
           (select count(*) from record r where r.canonical = id) + count(*)
      into came, came_hashes, pays, total from i;
    if came is not null and total > max_records then
      raise exception using errcode = 'EI003', message = 'too many records', detail = 'records';
    end if;
  end if;
  if came is null and gone is null and root is null then return '{"outcome": "unchanged"}'; end if;

  if once is not null then
    perform commit_keys(jsonb_build_array(once || jsonb_build_object(
      'rows', jsonb_build_array(jsonb_build_object('version', old.version + 1)))));
  end if;
  event_data := jsonb_build_object('emoji_id', id, 'version', old.version + 1, 'inserted', coalesce(to_jsonb(came_hashes), '[]'),
                                   'deleted', coalesce(to_jsonb(gone_hashes), '[]'));
  with change as (
    -- Postgres does not inline shorten_records, and a call costs more than the rest of the row. So only long lists are sent to it.
    insert into emoji_id_change (canonical, version, kind, owner_id, added, removed, signed)
    values (id, old.version + 1, case when came is null and gone is null then 'signature' else 'records' end, old.owner_id,
            case when pg_column_size(came) > 16384 then shorten_records(came) else came end,
            case when pg_column_size(gone) > 16384 then shorten_records(gone) else gone end,
            case when root_signature is not null then true end)
    returning kind
  ), notice as (
    insert into id_notice (user_id, canonical, version, kind, is_mailed)
    select old.owner_id, id, old.version + 1, c.kind, coalesce(pays, false) or coalesce(paid, false) from change c
  )
  update emoji_id e set version = old.version + 1, updated_at = now(), merkle_root = root, signature = root_signature
   where e.canonical = id;
  place := place_event('emoji_id:' || id, 'emoji_id.records', event_data);
  return jsonb_build_object('outcome', 'changed', 'version', old.version + 1, 'end', place);
end $$;

-- A registered id, as the lists in id-store.ts return it. `modifiers` is the data of its display record.
create or replace function listed_emoji_id(e emoji_id) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'canonical', e.canonical, 'generation', e.generation, 'minted', e.minted_at is not null, 'tokenId', e.token_id,
    'version', e.version, 'blockedUntil', case when e.blocked_until > now() then wire_time(e.blocked_until) end,
    'modifiers', (select r.data from record r where r.canonical = e.canonical and r.tag = 1 order by r.seq desc limit 1))
$$;

-- Registers an id for a user on behalf of an administrator. `listed` is the registered id. Raises EI002 if the id has a claim. If the user is named
-- by an email address that the account never verified, returns "unproven": another person may have registered with
-- the address. An invited account is accepted, because it can only be used through a mail to the address.
create or replace function register_emoji_id(p jsonb) returns jsonb language plpgsql as $$
declare owner uuid; chosen text; unproven boolean; made emoji_id;
begin
  select id, email_verified_at is null and invited_at is null into owner, unproven from app_user
   where deleted_at is null and deactivated_at is null and (id = (p->>'user_id')::uuid or email = lower(p->>'email'));
  if owner is null then return '{"outcome": "no_user"}'; end if;
  if unproven and p->>'user_id' is null then return '{"outcome": "unproven"}'; end if;
  select k.pubkey into chosen from pubkey k
   where k.user_id = owner and (p->>'pubkey' is null or k.pubkey = lower(p->>'pubkey')) order by k.created_at limit 1;
  if chosen is null and p->>'pubkey' is not null then return '{"outcome": "no_pubkey"}'; end if;
  if exists (select 1 from emoji_id where canonical = p->>'canonical') then return '{"outcome": "taken"}'; end if;
  perform put_claims(jsonb_build_array(jsonb_build_object(
    'canonical', p->>'canonical', 'kind', 'owned', 'holder', owner, 'owner_id', owner)));
  perform put_grants(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
    'canonical', p->>'canonical', 'owner_id', owner, 'pubkey', chosen, 'source', 'admin', 'display', p->'display'))));
  select * into made from emoji_id e where e.canonical = p->>'canonical';
  return jsonb_build_object('outcome', 'registered', 'listed', listed_emoji_id(made),
    'events', put_events(jsonb_build_array(jsonb_build_object(
      'channel', 'emoji_id:' || made.canonical, 'type', 'emoji_id.registered',
      'data', jsonb_build_object('emoji_id', made.canonical, 'version', made.version)))));
end $$;

-- Removes an id from the directory, so that it can be registered again. Refuses an id that is in transfer.
create or replace function destroy_emoji_id(p_canonical text) returns jsonb language plpgsql as $$
declare held text; id emoji_id;
begin
  select * into id from emoji_id where canonical = p_canonical for update;
  if not found then return '{"outcome": "absent"}'; end if;
  select kind into held from claim where canonical = p_canonical for update;
  if held = 'transfer' then return '{"outcome": "in_transfer"}'; end if;
  delete from emoji_id where canonical = p_canonical;
  delete from emoji_id_view where canonical = p_canonical;
  delete from claim where canonical = p_canonical;
  perform put_id_changes(jsonb_build_array(jsonb_build_object(
            'canonical', p_canonical, 'version', id.version + 1, 'kind', 'released', 'former_owner_id', id.owner_id)));
  perform put_freed(array[p_canonical]);
  return jsonb_build_object('outcome', 'destroyed', 'events', put_events(jsonb_build_array(
    jsonb_build_object('channel', 'emoji_id:' || p_canonical, 'type', 'emoji_id.released',
                       'data', jsonb_build_object('emoji_id', p_canonical)),
    jsonb_build_object('channel', 'market', 'type', 'market.released',
                       'data', jsonb_build_object('emoji_id', p_canonical)))));
end $$;

-- Removes an id, unless it is minted, or its owner has a valid mint permission: otherwise the former owner could have
-- the token of an id that has a new owner. The claim is locked before the id, in the same order as in permit_mint.
create or replace function release_emoji_id(p_canonical text) returns jsonb language plpgsql as $$
declare until timestamptz; minted boolean;
begin
  perform 1 from claim where canonical = p_canonical for update;
  select mint_until, minted_at is not null into until, minted from emoji_id where canonical = p_canonical for update;
  if minted then return '{"outcome": "minted"}'; end if;
  if until > now() then return jsonb_build_object('outcome', 'mintable', 'until', wire_time(until)); end if;
  return destroy_emoji_id(p_canonical);
end $$;

-- Removes ids from the directory because their purchase was refunded. Raises EI003 (ids_kept) if one of them must stay:
-- it has another owner or source, is minted, has a valid mint permission, or is in transfer. The claims are locked before
-- the ids, in the same order as in permit_mint.
create or replace function put_revokes(p jsonb) returns void language plpgsql as $$
declare gone text[]; changes jsonb;
begin
  perform 1 from claim where canonical in (select x->>'canonical' from jsonb_array_elements(p) x) order by canonical for update;
  perform 1 from emoji_id where canonical in (select x->>'canonical' from jsonb_array_elements(p) x) order by canonical for update;
  with removed as (
    delete from emoji_id e using jsonb_to_recordset(p) as x(canonical text, owner_id uuid, source text)
     where e.canonical = x.canonical and e.owner_id = x.owner_id and e.source = x.source and e.minted_at is null
       and (e.mint_until is null or e.mint_until <= now())
       and exists (select 1 from claim c where c.canonical = e.canonical and c.kind = 'owned' and c.holder = x.owner_id)
    returning e.canonical, e.version, e.owner_id)
  select array_agg(canonical), jsonb_agg(jsonb_build_object(
           'canonical', canonical, 'version', version + 1, 'kind', 'released', 'former_owner_id', owner_id))
    into gone, changes from removed;
  if coalesce(cardinality(gone), 0) < jsonb_array_length(p) then
    raise exception using errcode = 'EI003', message = 'ids are kept', detail = 'ids_kept';
  end if;
  delete from emoji_id_view where canonical = any(gone);
  delete from claim where canonical = any(gone);
  perform put_id_changes(changes);
  perform put_freed(gone);
end $$;

-- Adds view counts to the current day. Ignores ids that are not registered, so that lookups of unknown ids do not
-- fill the table. A batch has a number per process: a batch that is sent again is ignored.
create or replace function put_views(p_process uuid, p_number bigint, p_canonicals text[], p_views bigint[]) returns void language plpgsql as $$
begin
  insert into view_batch as b (process, number) values (p_process, p_number)
    on conflict (process) do update set number = excluded.number, at = now() where b.number < excluded.number;
  if not found then return; end if;
  insert into emoji_id_view as v (canonical, day, views)
  select x.canonical, current_date, x.views from unnest(p_canonicals, p_views) as x(canonical, views)
   where exists (select 1 from emoji_id e where e.canonical = x.canonical)
   order by x.canonical
  on conflict (canonical, day) do update set views = v.views + excluded.views;
end $$;

create or replace function views_since(p_canonical text, p_day date) returns bigint language sql stable as $$
  select coalesce(sum(views), 0)::bigint from emoji_id_view where canonical = p_canonical and day >= p_day
$$;

-- Returns the state of an id for its live channel: its records (oldest first), its key and its version. The version
-- increases with each change.
create or replace function live_lookup(id text) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'emoji_id', id, 'canonical', id, 'status', e.canonical is not null, 'pubkey', e.pubkey, 'version', coalesce(e.version, 0),
    'error', case when e.canonical is null
                  then '{"code": "not_registered", "reason": "The id is valid but not registered."}'::jsonb end,
    'result', (select coalesce(jsonb_agg(jsonb_build_object(
                 'tag', '0x' || lpad(to_hex(r.tag), 4, '0'), 'data', r.data, 'hash', r.hash) order by r.seq), '[]')
                 from record r where r.canonical = id))
    from (select 1) one left join emoji_id e on e.canonical = id
$$;
