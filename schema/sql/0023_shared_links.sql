-- A record may be linked under several store keys: it stays until the last of them names it no longer.
alter table record add column linked_keys text[];
update record set linked_keys = array[linked_key] where linked_key is not null;
alter table record drop column linked_key;

-- As before, by the keys of a record.
create or replace function edit_records(p jsonb) returns jsonb language plpgsql as $$
declare
  e emoji_id; store json_store; at_fault jsonb; places jsonb; wrote_store boolean := false;
  gone text[] := '{}'; came text[] := '{}'; deletes text[] := '{}';
  channel_of text := 'emoji_id:' || (p->>'canonical'); key_of text := p->'store'->>'key';
begin
  select * into e from emoji_id where canonical = p->>'canonical' for update;
  if not found then return '{"outcome": "absent"}'; end if;
  if e.owner_id is distinct from (p->>'user_id')::uuid and not (p->>'admin')::boolean then
    if not may_write(e, (p->>'user_id')::uuid, array(select jsonb_array_elements_text(p->'organizations')::uuid)) then
      return '{"outcome": "forbidden"}';
    end if;
  end if;
  if (p->>'expected')::bigint <> e.version then return '{"outcome": "stale"}'; end if;

  if p ? 'store' then
    select * into store from json_store where canonical = e.canonical and key = key_of;
    if store.locked_future_writes_at <= now() and not (p->'store'->>'unlocked')::boolean then
      return jsonb_build_object('outcome', 'locked', 'at', wire_time(store.locked_future_writes_at));
    end if;
  end if;

  if p->'delete' <> '[]' then
    deletes := array(select jsonb_array_elements_text(p->'delete'));
    select jsonb_agg(d) into at_fault from unnest(deletes) d
     where not exists (select 1 from record r where r.canonical = e.canonical and r.hash = d);
    if at_fault is not null then return jsonb_build_object('outcome', 'unknown', 'hashes', at_fault); end if;
  end if;

  -- What a store key was written with before, and no longer names, goes unless another key names it; what it names and is
  -- there stays as it is. What the owner wrote without a key belongs to none.
  if p->'store' ? 'linked' then
    with d as (
      delete from record r where r.canonical = e.canonical and r.linked_keys = array[key_of]
         and r.hash not in (select x->>'hash' from jsonb_array_elements(p->'insert') x) returning r.hash)
    select coalesce(array_agg(hash), '{}') into gone from d;
    update record r set linked_keys =
           case when key_of = any (r.linked_keys) then array_remove(r.linked_keys, key_of) else r.linked_keys || key_of end
     where r.canonical = e.canonical and (key_of = any (r.linked_keys)) <>
           (r.hash in (select x->>'hash' from jsonb_array_elements(p->'insert') x));
  end if;
  if not p ? 'store' and p->'insert' <> '[]' then
    select jsonb_agg(x->>'hash') into at_fault from jsonb_array_elements(p->'insert') x
     where exists (select 1 from record r where r.canonical = e.canonical and r.hash = x->>'hash')
       and not x->>'hash' = any (deletes);
    if at_fault is not null then return jsonb_build_object('outcome', 'duplicate', 'hashes', at_fault); end if;
  end if;

  if p->'delete' <> '[]' or (not (p->>'bypass')::boolean and p->'insert' @? '$[*].single_key ? (@ != null)') then
    with d as (
      delete from record r where r.canonical = e.canonical and (r.hash = any (deletes) or (
               not (p->>'bypass')::boolean and r.single_key is not null
               and r.single_key in (select x->>'single_key' from jsonb_array_elements(p->'insert') x)
               and r.hash not in (select x->>'hash' from jsonb_array_elements(p->'insert') x)))
      returning r.hash)
    select gone || coalesce(array_agg(hash), '{}') into gone from d;
  end if;

  if p->'insert' <> '[]' then
    with i as (
      insert into record (canonical, hash, tag, data, single_key, linked_keys)
      select e.canonical, x.r->>'hash', (x.r->>'tag')::int, x.r->>'data', x.r->>'single_key',
             case when key_of is not null then array[key_of] end
        from jsonb_array_elements(p->'insert') with ordinality as x(r, n)
       order by x.n
      on conflict (canonical, hash) do nothing returning hash)
    select coalesce(array_agg(hash), '{}') into came from i;
    if (select count(*) from record where canonical = e.canonical) > (p->>'max_records')::int then
      raise exception using errcode = 'EI003', message = 'too many records', detail = 'records';
    end if;
  end if;

  if p ? 'store' then
    insert into json_store as j (canonical, key, data, locked_future_writes_at)
    values (e.canonical, key_of, p->'store'->>'data', (p->'store'->>'locked_future_writes_at')::timestamptz)
    on conflict (canonical, key) do update set data = excluded.data, updated_at = now(),
       locked_future_writes_at = coalesce(excluded.locked_future_writes_at, j.locked_future_writes_at)
    returning * into store;
    wrote_store := true;
  end if;
  if not wrote_store and cardinality(gone) = 0 and cardinality(came) = 0 and not p ? 'merkle_root' then
    return '{"outcome": "unchanged"}';
  end if;

  update emoji_id set version = e.version + 1, updated_at = now(), merkle_root = p->>'merkle_root', signature = p->>'signature'
   where canonical = e.canonical;
  places := place_events(jsonb_build_array(jsonb_build_object(
    'channel', channel_of, 'type', 'emoji_id.records', 'data', jsonb_strip_nulls(jsonb_build_object(
      'emoji_id', e.canonical, 'version', e.version + 1, 'inserted', to_jsonb(came), 'deleted', to_jsonb(gone),
      'store_key', key_of)))));
  return jsonb_build_object('outcome', 'changed', 'version', e.version + 1, 'events', jsonb_build_array(
      jsonb_build_object('channel', channel_of, 'offset', places->'offsets'->0))) ||
    case when wrote_store then jsonb_build_object('store', jsonb_strip_nulls(jsonb_build_object(
      'created_at', wire_time(store.created_at), 'updated_at', wire_time(store.updated_at),
      'is_locked', coalesce(store.locked_future_writes_at <= now(), false),
      'locked_future_writes_at', wire_time(store.locked_future_writes_at)))) else '{}' end;
end $$;
