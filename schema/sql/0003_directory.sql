-- A registered id. Whether it may be taken is decided by the claim table, not here.
create table emoji_id (
  canonical     text        primary key,
  owner_id      uuid        not null references app_user,
  pubkey        text,
  token_id      bigint      generated always as identity unique,
  generation    int         not null default 0,
  source        text        not null,                 -- order:…, lootbox:…, admin, demo
  version       bigint      not null default 1,        -- rises with every change of the id
  minted_at     timestamptz,
  blocked_until timestamptz,
  merkle_root   text,                                 -- over the records, as the last editor signed it; null once changed without
  signature     text,
  registered_at timestamptz not null default now(),
  updated_at    timestamptz not null default now()
);
create index emoji_id_owner on emoji_id (owner_id, registered_at);
create index emoji_id_pubkey on emoji_id (pubkey) where pubkey is not null;
create index pubkey_organization on pubkey (organization_id) where organization_id is not null;
create index emoji_id_purchased on emoji_id (registered_at desc) where source like 'order:%';

create table record (
  canonical  text        not null references emoji_id on delete cascade,
  hash       text        not null,
  tag        int         not null check (tag between 0 and 65535),
  data       text        not null,
  seq        bigint      generated always as identity,
  single_key text,                                     -- a new record with the same key replaces this one
  linked_key text,                                     -- the store key this record was written with
  created_at timestamptz not null default now(),
  primary key (canonical, hash)
);

-- What the owner stores under a key. Kept as the text that was sent: jsonb would reorder it.
create table json_store (
  canonical  text        not null references emoji_id on delete cascade,
  key        text        not null,
  data       text        not null,
  locked_future_writes_at timestamptz,                 -- from then on nobody but an admin writes it
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (canonical, key)
);

-- Lookups per day. Written in batches; what is older than the statistics need is deleted now and then.
create table emoji_id_view (
  canonical text   not null,
  day       date   not null,
  views     bigint not null,
  primary key (canonical, day)
) with (fillfactor = 80);
create index emoji_id_view_day on emoji_id_view using brin (day);

-- The newest batch of each process, so that a batch sent again after a lost answer counts once.
create table view_batch (
  process uuid        primary key,
  number  bigint      not null,
  at      timestamptz not null default now()
);

create function put_grants(p jsonb) returns void language sql as $$
  insert into emoji_id (canonical, owner_id, pubkey, source)
  select x.canonical, x.owner_id, x.pubkey, x.source
    from jsonb_to_recordset(p) as x(canonical text, owner_id uuid, pubkey text, source text) order by x.canonical
$$;

create function put_moves(p jsonb) returns void language plpgsql as $$
declare moved int;
begin
  delete from record r using jsonb_to_recordset(p) as x(canonical text, clear_records boolean)
   where r.canonical = x.canonical and x.clear_records;
  delete from json_store j using jsonb_to_recordset(p) as x(canonical text, clear_records boolean)
   where j.canonical = x.canonical and x.clear_records;
  -- A lock was the former owner's promise, not the new one's.
  update json_store j set locked_future_writes_at = null from jsonb_to_recordset(p) as x(canonical text)
   where j.canonical = x.canonical and j.locked_future_writes_at is not null;
  update emoji_id e
     set merkle_root = null, signature = null, owner_id = x.owner_id, pubkey = x.pubkey, version = e.version + 1, updated_at = now(),
         blocked_until = now() + make_interval(secs => x.blocked_seconds)
    from jsonb_to_recordset(p) as x(canonical text, owner_id uuid, pubkey text, blocked_seconds int)
   where e.canonical = x.canonical;
  get diagnostics moved = row_count;
  if moved <> jsonb_array_length(p) then raise exception 'an id that is not registered cannot move'; end if;
end $$;

-- What ids cost. One row, so that a change of prices is one change.
create table price_parameters (
  sole       boolean     primary key default true check (sole),
  parameters jsonb       not null,
  version    int         not null default 1,
  updated_at timestamptz not null default now()
);

-- Adds to the day's views; ids that are not registered are left out, so that misses never fill the table.
create function put_views(p_process uuid, p_number bigint, p_canonicals text[], p_views bigint[]) returns void language plpgsql as $$
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

create function views_since(p_canonical text, p_day date) returns bigint language sql stable as $$
  select coalesce(sum(views), 0)::bigint from emoji_id_view where canonical = p_canonical and day >= p_day
$$;

-- Whether this caller may write to an id: by ownership, by its key, by a power role over the key's organization.
create function may_write(e emoji_id, p_user uuid, p_organizations uuid[]) returns boolean language sql stable as $$
  select e.owner_id = p_user
      or exists (select 1 from pubkey k where k.pubkey = e.pubkey
                    and (k.user_id = p_user or k.organization_id = any (p_organizations)))
$$;

-- One edit of an id's records, whole or not at all. Answers {outcome}: changed, unchanged, absent, forbidden, stale (the
-- version is not the expected one), locked, duplicate, unknown, crowded; the middle ones name the hashes they are about.
create function edit_records(p jsonb) returns jsonb language plpgsql as $$
declare
  e emoji_id; store json_store; at_fault jsonb; given jsonb; wrote_store boolean := false;
  gone text[] := '{}'; came text[] := '{}';
  deletes text[] := array(select jsonb_array_elements_text(p->'delete'));
begin
  select * into e from emoji_id where canonical = p->>'canonical' for update;
  if not found then return '{"outcome": "absent"}'; end if;
  if not (p->>'admin')::boolean and
     not may_write(e, (p->>'user_id')::uuid, array(select jsonb_array_elements_text(p->'organizations')::uuid)) then
    return '{"outcome": "forbidden"}';
  end if;
  if (p->>'expected')::bigint <> e.version then return '{"outcome": "stale"}'; end if;

  if p ? 'store' then
    select * into store from json_store where canonical = e.canonical and key = p->'store'->>'key';
    if store.locked_future_writes_at <= now() and not (p->'store'->>'unlocked')::boolean then
      return jsonb_build_object('outcome', 'locked', 'at', wire_time(store.locked_future_writes_at));
    end if;
  end if;

  select jsonb_agg(d) into at_fault from unnest(deletes) d
   where not exists (select 1 from record r where r.canonical = e.canonical and r.hash = d);
  if at_fault is not null then return jsonb_build_object('outcome', 'unknown', 'hashes', at_fault); end if;

  -- What a store key was written with before, and no longer names, goes; what it names and is there stays as it is.
  if p->'store' ? 'linked' then
    with d as (
      delete from record r where r.canonical = e.canonical and r.linked_key = p->'store'->>'key'
         and r.hash not in (select x->>'hash' from jsonb_array_elements(p->'insert') x) returning r.hash)
    select coalesce(array_agg(hash), '{}') into gone from d;
  end if;
  if not p ? 'store' then
    select jsonb_agg(x->>'hash') into at_fault from jsonb_array_elements(p->'insert') x
     where exists (select 1 from record r where r.canonical = e.canonical and r.hash = x->>'hash')
       and not x->>'hash' = any (deletes);
    if at_fault is not null then return jsonb_build_object('outcome', 'duplicate', 'hashes', at_fault); end if;
  end if;

  with d as (
    delete from record r where r.canonical = e.canonical and (r.hash = any (deletes) or (
             not (p->>'bypass')::boolean and r.single_key is not null
             and r.single_key in (select x->>'single_key' from jsonb_array_elements(p->'insert') x)
             and r.hash not in (select x->>'hash' from jsonb_array_elements(p->'insert') x)))
    returning r.hash)
  select gone || coalesce(array_agg(hash), '{}') into gone from d;

  with i as (
    insert into record (canonical, hash, tag, data, single_key, linked_key)
    select e.canonical, x.r->>'hash', (x.r->>'tag')::int, x.r->>'data', x.r->>'single_key', p->'store'->>'key'
      from jsonb_array_elements(p->'insert') with ordinality as x(r, n)
     order by x.n
    on conflict (canonical, hash) do nothing returning hash)
  select coalesce(array_agg(hash), '{}') into came from i;

  if (select count(*) from record where canonical = e.canonical) > (p->>'max_records')::int then
    raise exception using errcode = 'EI003', message = 'too many records', detail = 'records';
  end if;

  if p ? 'store' then
    insert into json_store as j (canonical, key, data, locked_future_writes_at)
    values (e.canonical, p->'store'->>'key', p->'store'->>'data', (p->'store'->>'locked_future_writes_at')::timestamptz)
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
  given := put_events(jsonb_build_array(jsonb_build_object(
    'channel', 'emoji_id:' || e.canonical, 'type', 'emoji_id.records', 'data', jsonb_strip_nulls(jsonb_build_object(
      'emoji_id', e.canonical, 'version', e.version + 1, 'inserted', to_jsonb(came), 'deleted', to_jsonb(gone),
      'store_key', p->'store'->>'key')))));
  return jsonb_build_object('outcome', 'changed', 'version', e.version + 1, 'events', given) ||
    case when wrote_store then jsonb_build_object('store', jsonb_strip_nulls(jsonb_build_object(
      'created_at', wire_time(store.created_at), 'updated_at', wire_time(store.updated_at),
      'is_locked', coalesce(store.locked_future_writes_at <= now(), false),
      'locked_future_writes_at', wire_time(store.locked_future_writes_at)))) else '{}' end;
end $$;

-- An admin gives an id to a user: claim and registration in one. Raises EI002 when the id is held.
create function register_emoji_id(p jsonb) returns jsonb language plpgsql as $$
declare owner uuid; chosen text;
begin
  select id into owner from app_user
   where deleted_at is null and (id = (p->>'user_id')::uuid or email = lower(p->>'email'));
  if owner is null then return '{"outcome": "no_user"}'; end if;
  select k.pubkey into chosen from pubkey k
   where k.user_id = owner and (p->>'pubkey' is null or k.pubkey = lower(p->>'pubkey')) order by k.created_at limit 1;
  if chosen is null and p->>'pubkey' is not null then return '{"outcome": "no_pubkey"}'; end if;
  if exists (select 1 from emoji_id where canonical = p->>'canonical') then return '{"outcome": "taken"}'; end if;
  perform put_claims(jsonb_build_array(jsonb_build_object(
    'canonical', p->>'canonical', 'kind', 'owned', 'holder', owner, 'owner_id', owner)));
  perform put_grants(jsonb_build_array(jsonb_build_object(
    'canonical', p->>'canonical', 'owner_id', owner, 'pubkey', chosen, 'source', 'admin')));
  return jsonb_build_object('outcome', 'registered', 'events', put_events(jsonb_build_array(jsonb_build_object(
    'channel', 'emoji_id:' || (p->>'canonical'), 'type', 'emoji_id.registered',
    'data', jsonb_build_object('emoji_id', p->>'canonical', 'version', 1)))));
end $$;

-- An admin takes an id out of the directory; whoever wants it may have it then.
create function destroy_emoji_id(p_canonical text) returns jsonb language plpgsql as $$
declare held text;
begin
  perform 1 from emoji_id where canonical = p_canonical for update;
  if not found then return '{"outcome": "absent"}'; end if;
  select kind into held from claim where canonical = p_canonical for update;
  if held = 'transfer' then return '{"outcome": "in_transfer"}'; end if;
  delete from emoji_id where canonical = p_canonical;
  delete from emoji_id_view where canonical = p_canonical;
  delete from claim where canonical = p_canonical;
  perform put_freed(array[p_canonical]);
  return jsonb_build_object('outcome', 'destroyed', 'events', put_events(jsonb_build_array(
    jsonb_build_object('channel', 'emoji_id:' || p_canonical, 'type', 'emoji_id.released',
                       'data', jsonb_build_object('emoji_id', p_canonical)),
    jsonb_build_object('channel', 'market', 'type', 'market.released',
                       'data', jsonb_build_object('emoji_id', p_canonical)))));
end $$;
