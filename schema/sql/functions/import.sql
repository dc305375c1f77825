-- The import of ids by the command line.

-- Registers a batch of ids for their owners, with their records, by the rules of register_emoji_id. Each line has its own
-- outcome; a refused line does not affect the others.
--   p      {n, canonical, user_id or email, pubkey, source, display {hash, data}, records [{hash, tag, data, single_key}]}.
--          A batch must not contain an id twice
--   store  false: nothing is written, and the outcomes are those of an import
-- Returns {n, outcome} for each line. The outcomes:
--   imported   the id was registered now. Its channel has the same events as after a registration and an edit
--   present    the id belongs to this owner and has this source, so an earlier run has imported it. It is not changed
--   taken, no_user, unproven, no_pubkey   as in register_emoji_id
-- Raises EI002 if another statement takes one of the ids at the same time, and EI003 if an owner is deleted at the same time.
create or replace function import_emoji_ids(p jsonb, store boolean) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare outcomes jsonb; fresh jsonb; said jsonb; changes jsonb;
begin
  with line as materialized (
    select x.n, x.canonical, x.user_id, lower(x.email) as email, lower(x.pubkey) as pubkey, x.source, x.display, x.records
      from jsonb_to_recordset(p) as x(n int, canonical text, user_id uuid, email text, pubkey text, source text,
                                      display jsonb, records jsonb)
  ), owned as materialized (
    select l.*, u.id as owner_id, u.id is not null and l.user_id is null
                                  and u.email_verified_at is null and u.invited_at is null as unproven
      from line l
      left join app_user u on u.id = coalesce(l.user_id, (select m.id from app_user m where m.email = l.email))
                          and u.deleted_at is null and u.deactivated_at is null
  ), judged as materialized (
    select o.*, case
             when o.owner_id is null then 'no_user'
             when e.owner_id = o.owner_id and e.source = o.source then 'present'
             when o.unproven then 'unproven'
             when o.pubkey is not null
                  and not exists (select 1 from pubkey k where k.pubkey = o.pubkey and k.user_id = o.owner_id) then 'no_pubkey'
             when e.canonical is not null or c.canonical is not null then 'taken'
             else 'imported' end as outcome
      from owned o
      left join emoji_id e on e.canonical = o.canonical
      left join claim c on c.canonical = o.canonical
  )
  select jsonb_agg(jsonb_build_object('n', j.n, 'outcome', j.outcome)),
         jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'canonical', j.canonical, 'kind', 'owned', 'holder', j.owner_id, 'owner_id', j.owner_id, 'pubkey', j.pubkey,
           'source', j.source, 'display', j.display, 'records', nullif(j.records, '[]'))) order by j.canonical)
           filter (where j.outcome = 'imported')
    into outcomes, fresh from judged j;
  if fresh is null or not store then return coalesce(outcomes, '[]'); end if;

  perform put_claims(fresh);
  perform put_grants(fresh);
  insert into record (canonical, hash, tag, data, single_key)
  select x.canonical, r.hash, r.tag, r.data, r.single_key
    from jsonb_to_recordset(fresh) as x(canonical text, records jsonb)
   cross join lateral rows from (jsonb_to_recordset(x.records) as (hash text, tag int, data text, single_key text))
           with ordinality as r(hash, tag, data, single_key, place)
   order by x.canonical, r.place
  on conflict (canonical, hash) do nothing;
  with changed as (
    update emoji_id e set version = e.version + 1
      from jsonb_to_recordset(fresh) as x(canonical text, records jsonb)
     where e.canonical = x.canonical and x.records is not null
    returning e.canonical, e.version, e.owner_id, x.records
  )
  select jsonb_agg(jsonb_build_object(
           'canonical', c.canonical, 'version', c.version, 'kind', 'records', 'owner_id', c.owner_id,
           'quiet', true, 'added', c.records))
    into changes from changed c;
  if changes is not null then perform put_id_changes(changes); end if;
  with id as materialized (
    select e.canonical, e.version - case when x.records is null then 0 else 1 end as version, x.records, row_number() over (order by e.canonical) as place
      from jsonb_to_recordset(fresh) as x(canonical text, records jsonb) join emoji_id e on e.canonical = x.canonical
  )
  select jsonb_build_object(
           'channels', (select jsonb_agg(jsonb_build_object(
                                 'name', 'emoji_id:' || i.canonical, 'events', case when i.records is null then 1 else 2 end)
                                 order by i.place) from id i),
           'events', (select jsonb_agg(jsonb_build_object(
                               'channel', s.place, 'after', s.after, 'type', s.type, 'data', s.data) order by s.place, s.after desc)
                        from (select i.place, case when i.records is null then 0 else 1 end as after, 'emoji_id.registered' as type,
                                     jsonb_build_object('emoji_id', i.canonical, 'version', i.version) as data from id i
                              union all
                              select i.place, 0, 'emoji_id.records', jsonb_build_object(
                                       'emoji_id', i.canonical, 'version', i.version + 1, 'deleted', '[]'::jsonb,
                                       'inserted', (select jsonb_agg(r->'hash') from jsonb_array_elements(i.records) r))
                                from id i where i.records is not null) s))
    into said;
  perform place_said(said);
  return outcomes;
end $$;
