-- Edits that are made together are written as sets, as turns are: one statement per kind of row, where there were ten for
-- each edit. edit_records stays for processes of the version before.

-- Edits of records, each whole or not at all, no two of the same id. They are counted from one (n); deletes, inserts and
-- stores name the edit they belong to.
--   edits    {n, canonical, user_id, organizations, admin, expected, merkle_root, signature, key (of the store)}
--   deletes  {n, canonical, hash}
--   inserts  {n, canonical, hash, tag, data, single_key, replaces (what has its single_key goes), key}
--   stores   {n, canonical, key, data, unlocked, locked_future_writes_at, linked (the inserts are the key's whole set)}
-- Answers, in their order, the outcomes of those that are not made: absent, forbidden, stale (the version is not the expected
-- one), locked, unknown or duplicate. The last three have faults, by n: since when, or which hashes. Of those that are made,
-- the numbers of the ones that changed something, what version each has now and where the channel of its id has come to;
-- and store entries, by id. Raises EI003 when one of the ids would have too many records.
create function edit_batch(p jsonb, max_records int) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  deletes jsonb := p->'deletes'; inserts jsonb := p->'inserts'; stores jsonb := p->'stores';
  outcomes text[]; live int[]; one record; faults jsonb := '{}'; stored jsonb := '{}';
  gone_of text[] := '{}'; gone_hash text[] := '{}'; gone jsonb := '{}'; came jsonb := '{}';
  changed int[]; versions bigint[]; said jsonb;
begin
  -- Ids are locked in their order. Who had to wait for one sees its records as they are then, in the statements after this.
  with held as materialized (
    select w.n, w.user_id, w.organizations, w.admin, w.expected, e as id
      from (select x.* from jsonb_to_recordset(p->'edits')
              as x(n int, canonical text, user_id uuid, organizations jsonb, admin boolean, expected bigint)
             order by x.canonical) w
      join emoji_id e on e.canonical = w.canonical for update of e
  ), judged as (
    select w.n, case
             when h.n is null then 'absent'
             when (h.id).owner_id is distinct from h.user_id and not h.admin and not may_write(
                    h.id, h.user_id, array(select jsonb_array_elements_text(h.organizations)::uuid)) then 'forbidden'
             when h.expected <> (h.id).version then 'stale'
           end as outcome
      from generate_series(1, jsonb_array_length(p->'edits')) w(n) left join held h on h.n = w.n
  )
  select array_agg(j.outcome order by j.n), coalesce(array_agg(j.n) filter (where j.outcome is null), '{}')
    into outcomes, live from judged j;

  for one in
    select x.n, 1 as rank, 'locked' as outcome, to_jsonb(wire_time(s.locked_future_writes_at)) as fault
      from jsonb_to_recordset(stores) as x(n int, canonical text, key text, unlocked boolean)
      join json_store s on s.canonical = x.canonical and s.key = x.key
     where s.locked_future_writes_at <= now() and not x.unlocked
    union all
    select x.n, 2, 'unknown', jsonb_agg(x.hash)
      from jsonb_to_recordset(deletes) as x(n int, canonical text, hash text)
     where not exists (select 1 from record r where r.canonical = x.canonical and r.hash = x.hash)
     group by x.n
    union all
    select x.n, 3, 'duplicate', jsonb_agg(x.hash)
      from jsonb_to_recordset(inserts) as x(n int, canonical text, hash text, key text)
     where x.key is null and exists (select 1 from record r where r.canonical = x.canonical and r.hash = x.hash)
       and not exists (select 1 from jsonb_to_recordset(deletes) as d(n int, hash text) where d.n = x.n and d.hash = x.hash)
     group by x.n
    order by 2
  loop
    if one.n = any(live) then
      live := array_remove(live, one.n);
      outcomes[one.n] := one.outcome;
      faults := faults || jsonb_build_object(one.n, one.fault);
    end if;
  end loop;

  -- What a store key was written with before, and no longer names, goes unless another key names it; what it names and is
  -- there stays as it is. What the owner wrote without a key belongs to none.
  if stores @? '$[*] ? (@.linked == true)' then
    with d as (
      delete from record r using jsonb_to_recordset(stores) as x(n int, canonical text, key text, linked boolean)
       where x.linked and x.n = any(live) and r.canonical = x.canonical and r.linked_keys = array[x.key]
         and not exists (select 1 from jsonb_to_recordset(inserts) as i(n int, hash text) where i.n = x.n and i.hash = r.hash)
      returning r.canonical, r.hash)
    select coalesce(array_agg(d.canonical), '{}'), coalesce(array_agg(d.hash), '{}') into gone_of, gone_hash from d;
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
      returning r.canonical, r.hash)
    select gone_of || coalesce(array_agg(d.canonical), '{}'), gone_hash || coalesce(array_agg(d.hash), '{}')
      into gone_of, gone_hash from d;
  end if;

  if inserts @? '$[*] ? (@.replaces == true)' then
    with d as (
      delete from record r
       using jsonb_to_recordset(inserts) as x(n int, canonical text, single_key text, replaces boolean)
       where x.replaces and x.n = any(live) and r.canonical = x.canonical and r.single_key = x.single_key
         and not exists (select 1 from jsonb_to_recordset(inserts) as i(n int, hash text) where i.n = x.n and i.hash = r.hash)
      returning r.canonical, r.hash)
    select gone_of || coalesce(array_agg(d.canonical), '{}'), gone_hash || coalesce(array_agg(d.hash), '{}')
      into gone_of, gone_hash from d;
  end if;

  if inserts <> '[]' then
    with i as (
      insert into record (canonical, hash, tag, data, single_key, linked_keys)
      select x.canonical, x.hash, x.tag, x.data, x.single_key, case when x.key is not null then array[x.key] end
        from rows from (jsonb_to_recordset(inserts)
               as (n int, canonical text, hash text, tag int, data text, single_key text, key text)) with ordinality
             as x(n, canonical, hash, tag, data, single_key, key, place)
       where x.n = any(live) order by x.place
      on conflict (canonical, hash) do nothing returning canonical, hash
    ), of_id as (
      select i.canonical, jsonb_agg(i.hash) as hashes from i group by i.canonical
    )
    select coalesce(jsonb_object_agg(o.canonical, o.hashes), '{}') into came from of_id o;
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
                       from unnest(gone_of, gone_hash) as x(canonical, hash) group by x.canonical) d);
  end if;
  with c as (
    update emoji_id e
       set version = e.version + 1, updated_at = now(), merkle_root = x.merkle_root, signature = x.signature
      from jsonb_to_recordset(p->'edits') as x(n int, canonical text, merkle_root text, signature text, key text)
     where e.canonical = x.canonical and x.n = any(live)
       and (came ? x.canonical or gone ? x.canonical or x.key is not null or x.merkle_root is not null)
    returning x.n, x.key, e.canonical, e.version
  ), told as (
    select c.*, row_number() over (order by c.canonical) as place from c
  )
  select array_agg(t.n order by t.place), array_agg(t.version order by t.place), jsonb_build_object(
           'channels', jsonb_agg(jsonb_build_object('name', 'emoji_id:' || t.canonical, 'events', 1) order by t.place),
           'events', jsonb_agg(jsonb_build_object(
             'channel', t.place, 'after', 0, 'type', 'emoji_id.records', 'data', jsonb_strip_nulls(jsonb_build_object(
               'emoji_id', t.canonical, 'version', t.version, 'inserted', coalesce(came->t.canonical, '[]'),
               'deleted', coalesce(gone->t.canonical, '[]'), 'store_key', t.key))) order by t.place))
    into changed, versions, said from told t;
  return jsonb_build_object('outcomes', outcomes, 'faults', faults, 'stored', stored, 'changed', coalesce(changed, '{}'),
                            'versions', versions, 'ends', case when changed is not null then place_said(said)->'ends' end);
end $$;
