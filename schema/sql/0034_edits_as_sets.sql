-- Edits that are made together are written as sets, as turns are: one statement per kind of row, where there were ten for
-- each edit. edit_records stays for processes of the version before.

-- Edits of records, each whole or not at all, no two of the same id. They are counted from one (n); deletes, inserts and
-- stores name the edit they belong to.
--   edits    {n, canonical, user_id, organizations, admin, expected, merkle_root, signature, key (of the store)}
--   deletes  {n, canonical, hash}
--   inserts  {n, canonical, hash, tag, data, single_key, replaces (what has its single_key goes), key}
--   stores   {n, canonical, key, data, unlocked, locked_future_writes_at, linked (the inserts are the key's whole set)}
-- Answers what became of those that are refused, by n: absent, forbidden, stale (the version is not the expected one), locked
-- (at), unknown or duplicate (hashes), whatever comes first here. Of the others, the numbers of those that changed something,
-- what version each has now and where the channel of its id has come to; and store entries, by id. Ids are locked in their
-- order. Raises EI003 when one of them would have too many records.
create function edit_batch(p jsonb, max_records int) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  deletes jsonb := p->'deletes'; inserts jsonb := p->'inserts'; stores jsonb := p->'stores';
  live int[]; one record; refused jsonb := '{}'; stored jsonb := '{}';
  gone_of text[] := '{}'; gone_hash text[] := '{}'; gone jsonb := '{}'; came jsonb := '{}';
  changed int[]; versions bigint[]; said jsonb;
begin
  with held as materialized (
    select w.n from (select x.n, x.canonical from jsonb_to_recordset(p->'edits') as x(n int, canonical text)
                      order by x.canonical) w
      join emoji_id e on e.canonical = w.canonical for update of e)
  select coalesce(array_agg(h.n), '{}') into live from held h;

  -- A statement of its own: who had to wait for an id sees all that is about it as it is now.
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
    select x.n, 4, jsonb_build_object('outcome', 'duplicate', 'hashes', jsonb_agg(x.hash))
      from jsonb_to_recordset(inserts) as x(n int, canonical text, hash text, key text)
     where x.key is null and exists (select 1 from record r where r.canonical = x.canonical and r.hash = x.hash)
       and not exists (select 1 from jsonb_to_recordset(deletes) as d(n int, hash text) where d.n = x.n and d.hash = x.hash)
     group by x.n
    order by 2
  loop
    if not refused ? one.n::text then refused := refused || jsonb_build_object(one.n, one.why); end if;
    live := array_remove(live, one.n);
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
  return jsonb_build_object('refused', refused, 'changed', coalesce(changed, '{}'), 'versions', versions,
                            'ends', case when changed is not null then place_said(said)->'ends' end, 'stored', stored);
end $$;
