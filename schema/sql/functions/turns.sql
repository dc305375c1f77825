-- Functions that commit turns: entities, claims, events and mail. The statement of a turn calls commit_batch, which
-- calls the other functions. Functions of other subjects also call them to publish events or to claim ids.

-- The functions that write several rows switch three planner settings off. A connection caches its plans, and the
-- first plans are made while the tables are small. These functions join a few rows to a table of any size, so their
-- plans must use the index from the start.

-- Formats a time as in API responses. The function is stable and not immutable, because it calls to_char, which is
-- stable. Postgres can inline an SQL function only if it is not declared stricter than its body. Otherwise each value
-- costs a call.
create or replace function wire_time(t timestamptz) returns text language sql stable as $$
  select to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Commits a batch of turns atomically. A turn in a large batch costs less than half of a turn in its own statement,
-- and all turns share one WAL flush.
--   p.begun   new entities
--   p.turned  changed entities, with the version that each is expected to have
--   p.claims, p.releases, p.grants, p.moves, p.revokes, p.ledger, p.sandbox_intents, p.uses, p.free_ids, p.right_codes, p.mail
--             effects: one list per kind for all turns, so that rows are locked kind by kind and in order
--   p.keys    the Idempotency-Keys of the requests, each with its outcome, see commit_keys
--   said      channels and events, see place_said
-- Returns the result of place_said, or null if exactly these turns were already committed. Raises EI001 (detail: the
-- ids of the entities) if another turn of an entity was committed first. Raises EI002 if another holder has an id.
-- After either error the caller retries the other turns without the rejected ones.
create or replace function commit_batch(p jsonb, said jsonb) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  begun int := 0; gone_on int := 0; given int := 0; late uuid[]; repeated int; places jsonb;
begin
  if p ? 'begun' then
    insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, due_at)
    select x.kind, x.id, 1, x.turn, x.status, x.state, x.owner_id, x.peer_id, x.subject, x.due_at
      from jsonb_to_recordset(p->'begun')
             as x(kind text, id uuid, turn uuid, status text, state jsonb, owner_id uuid, peer_id uuid, subject text,
                  due_at timestamptz)
     order by x.kind, x.id
    on conflict (kind, id) do nothing;
    get diagnostics begun = row_count;
    given := jsonb_array_length(p->'begun');
  end if;
  if p ? 'turned' then
    update entity e
       set version = t.expected + 1, turn = t.turn, status = t.status, state = t.state, owner_id = t.owner_id,
           peer_id = t.peer_id, subject = t.subject, due_at = t.due_at, leased_until = null, updated_at = now()
      from (select * from jsonb_to_recordset(p->'turned')
             as x(kind text, id uuid, expected int, turn uuid, status text, state jsonb, owner_id uuid, peer_id uuid,
                  subject text, due_at timestamptz)
             order by x.kind, x.id offset 0) t
     where e.kind = t.kind and e.id = t.id and e.version = t.expected;
    get diagnostics gone_on = row_count;
    given := given + jsonb_array_length(p->'turned');
  end if;
  if begun + gone_on < given then
    select array_agg(x.id), count(*) filter (where e.turn = x.turn) into late, repeated
      from jsonb_to_recordset(coalesce(p->'begun', '[]') || coalesce(p->'turned', '[]')) as x(kind text, id uuid, turn uuid)
      left join entity e on e.kind = x.kind and e.id = x.id
     where e.xmin is distinct from pg_current_xact_id()::xid;
    if repeated = given then return null; end if;
    raise exception using errcode = 'EI001', message = 'version conflict', detail = array_to_json(late)::text;
  end if;

  if p ? 'claims' then perform put_claims(p->'claims'); end if;
  if p ? 'releases' then
    perform put_releases(x.id, x.list) from jsonb_to_recordset(p->'releases') as x(id uuid, list jsonb);
  end if;
  if p ? 'grants' then perform put_grants(p->'grants'); end if;
  if p ? 'moves' then perform put_moves(p->'moves'); end if;
  if p ? 'revokes' then perform put_revokes(p->'revokes'); end if;
  if p ? 'ledger' then perform put_ledger(p->'ledger'); end if;
  if p ? 'sandbox_intents' then perform put_sandbox_intents(p->'sandbox_intents'); end if;
  if p ? 'uses' then
    perform put_code_uses(x.id, x.list) from jsonb_to_recordset(p->'uses') as x(id uuid, list jsonb);
  end if;
  if p ? 'free_ids' then perform put_free_ids(p->'free_ids'); end if;
  if p ? 'right_codes' then
    delete from wrong_transfer_code w using jsonb_array_elements_text(p->'right_codes') as x(id) where w.id = x.id::uuid;
  end if;
  if p ? 'mail' then perform put_mail(p->'mail'); end if;
  if p ? 'keys' then perform commit_keys(p->'keys'); end if;
  if said is not null then places := place_said(said); end if;
  return places;
end $$;

-- Claims one id with the rules of put_claims. Returns false if it changed nothing, because this call alone does not decide
-- whether the claim is refused. It needs a quarter of the time of put_claims, and most turns claim one id.
create or replace function put_claim(id text, new_kind text, new_holder uuid, new_owner uuid, old_holder uuid, is_held boolean)
returns boolean language plpgsql as $$
begin
  if old_holder is not null then
    update claim c set kind = new_kind, holder = new_holder, owner_id = new_owner, claimed_at = now()
     where c.canonical = id and c.holder = old_holder;
    if found then return true; end if;
  end if;
  if is_held is not true then
    insert into claim (canonical, kind, holder, owner_id) values (id, new_kind, new_holder, new_owner)
      on conflict (canonical) do nothing;
    return found;
  end if;
  return false;
end $$;

-- Claims ids, all or none.
--   * A claim without from_holder takes a free id. If the same holder already holds the id, the stored claim gets the
--     new kind (for example `owned` instead of `order`).
--   * A claim with from_holder takes the id from that holder, or takes a free id.
--   * A claim with from_holder and `held` takes the id only from that holder. A free id is refused.
--
-- Raises EI002 if claims are refused. The detail lists the ids. The hint lists the positions of the refused claims,
-- counted from 1, because several turns of a batch can claim the same id and only some of these claims are refused.
--
-- There are four steps, and each goes through the ids in order: lock the claims that are taken from a holder, insert
-- claims on free ids, move the locked claims, then update the remaining claims. An insert waits for a concurrent insert
-- or move of the same id, but not for a row that is only locked. So in the first three steps a call never waits for a
-- call that is in an earlier step, and these steps cannot deadlock. If several claims of a batch take the same id from
-- the same holder, all except the first are refused (distinct on).
create or replace function put_claims(p jsonb) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare locked bigint[] := '{}'; left_over bigint[]; want record; taken text[]; lost bigint[];
begin
  if jsonb_array_length(p) = 1 and put_claim(p->0->>'canonical', p->0->>'kind', (p->0->>'holder')::uuid, (p->0->>'owner_id')::uuid,
                                             (p->0->>'from_holder')::uuid, (p->0->>'held')::boolean) then
    return;
  end if;
  if p @? '$[*].from_holder' then
    locked := array(
      select w.n from (
        select distinct on (x.canonical, x.from_holder) x.canonical, x.from_holder, x.n
          from rows from (jsonb_to_recordset(p) as (canonical text, from_holder uuid)) with ordinality
               as x(canonical, from_holder, n) order by x.canonical, x.from_holder, x.n) w
        join claim c on c.canonical = w.canonical and c.holder = w.from_holder for update of c);
  end if;

  with want as materialized (
    select x.canonical, x.kind, x.holder, x.owner_id, x.held, x.n
      from rows from (jsonb_to_recordset(p) as (canonical text, kind text, holder uuid, owner_id uuid, held boolean))
           with ordinality as x(canonical, kind, holder, owner_id, held, n)
     where x.n <> all(locked) order by x.canonical, x.n
  ), made as (
    insert into claim (canonical, kind, holder, owner_id)
    select w.canonical, w.kind, w.holder, w.owner_id from want w where w.held is not true
    on conflict (canonical) do nothing returning canonical, holder
  )
  select array_agg(w.n) into left_over from want w
   where (w.canonical, w.holder) not in (select m.canonical, m.holder from made m);

  if locked <> '{}' then
    update claim c set kind = w.kind, holder = w.holder, owner_id = w.owner_id, claimed_at = now()
      from rows from (jsonb_to_recordset(p) as (canonical text, kind text, holder uuid, owner_id uuid))
           with ordinality as w(canonical, kind, holder, owner_id, n)
     where w.n = any(locked) and c.canonical = w.canonical;
  end if;
  if left_over is null then return; end if;

  -- The ids of the remaining claims already have a claim. The new claim succeeds if the existing one belongs to its
  -- from_holder or, without a from_holder, to its own holder.
  for want in
    select x.canonical, x.kind, x.holder, x.owner_id, coalesce(x.from_holder, x.holder) as from_holder, x.n
      from rows from (jsonb_to_recordset(p)
             as (canonical text, kind text, holder uuid, owner_id uuid, from_holder uuid)) with ordinality
           as x(canonical, kind, holder, owner_id, from_holder, n)
     where x.n = any(left_over) order by x.canonical, x.n
  loop
    update claim c set kind = want.kind, holder = want.holder, owner_id = want.owner_id, claimed_at = now()
     where c.canonical = want.canonical and c.holder = want.from_holder;
    if not found then
      taken := array_append(taken, want.canonical);
      lost := array_append(lost, want.n);
    end if;
  end loop;
  if taken is not null then
    raise exception using errcode = 'EI002', message = 'taken', detail = array_to_json(taken)::text,
                          hint = array_to_json(lost)::text;
  end if;
end $$;

-- Deletes claims of a holder, and queues the freed ids (put_freed): a background worker notifies interested users.
create or replace function put_releases(p_holder uuid, p jsonb) returns void language plpgsql as $$
declare freed text[];
begin
  with gone as (
    delete from claim c using (
      select c2.canonical from claim c2
       where c2.canonical in (select jsonb_array_elements_text(p)) and c2.holder = p_holder
       order by c2.canonical for update) r
     where c.canonical = r.canonical returning c.canonical)
  select array_agg(canonical order by canonical) into freed from gone;
  if freed is not null then perform put_freed(freed); end if;
end $$;

-- Returns the offset of a channel that has no row. Its first event has the next offset. Channels of emoji ids and the channel
-- `market` are never deleted and begin at 0; for the others see prune_channels.
create or replace function channel_start(channel_name text, channel_floor bigint) returns bigint language sql immutable as $$
  select case when channel_name like 'emoji_id:%' or channel_name like 'market%' then 0 else channel_floor end
$$;

-- Assigns offsets to events and stores the events.
--   p.channels  each channel once: its name, and the number of its events
--   p.events    for each event: the position of its channel in p.channels (counted from 1), the number of later
--               events of this channel in the batch, the type and the data
-- Returns the last offset of each channel in the given order, and the epoch and the time of all events. Offsets are assigned under the row lock of the channel, so they
-- have the order of the commits and no gaps. Channels are locked in the order of their names, so two batches cannot
-- deadlock.
create or replace function place_said(p jsonb) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  given text[] := array(select c->>'name' from jsonb_array_elements(p->'channels') c);
  names text[]; ends bigint[]; epoch_of uuid; low bigint;
begin
  select l.epoch, l.channel_floor into epoch_of, low from live_epoch l;
  with moved as (
    insert into channel as c (name, "offset", epoch)
    select x.name, channel_start(x.name, low) + x.events, epoch_of
      from jsonb_to_recordset(p->'channels') as x(name text, events int) order by x.name
    on conflict (name) do update set "offset" = c."offset" + excluded."offset" - channel_start(excluded.name, low)
    returning c.name, c."offset"
  )
  select array_agg(m.name), array_agg(m."offset") into names, ends from moved m;
  if names <> given then
    ends := array(select m."end" from unnest(given) with ordinality as g(name, number)
                    join unnest(names, ends) as m(name, "end") using (name) order by g.number);
  end if;
  insert into event (channel, "offset", type, data)
  select given[x.channel], ends[x.channel] - x.after, x.type, x.data
    from jsonb_to_recordset(p->'events') as x(channel int, after int, type text, data jsonb);
  return jsonb_build_object('epoch', epoch_of, 'at', wire_time(now()), 'ends', ends);
end $$;

-- Assigns offsets and stores events like place_said, for a plain list of events {channel, type, data}. Returns the
-- offset of each event, and the epoch and time of all events.
create or replace function place_many_events(p jsonb) returns jsonb language plpgsql as $$
declare given jsonb; epoch_of uuid; low bigint;
begin
  select l.epoch, l.channel_floor into epoch_of, low from live_epoch l;
  with said as materialized (
    select x.n as place, x.e->>'channel' as channel, x.e->>'type' as type, x.e->'data' as data,
           row_number() over (partition by x.e->>'channel' order by x.n) as n
      from jsonb_array_elements(p) with ordinality as x(e, n)
  ), heard as materialized (
    select channel, count(*) as events from said group by channel order by channel
  ), moved as (
    insert into channel as c (name, "offset", epoch)
    select channel, channel_start(channel, low) + events, epoch_of from heard
    on conflict (name) do update set "offset" = c."offset" + excluded."offset" - channel_start(excluded.name, low)
    returning c.name, c."offset"
  ), placed as materialized (
    select s.place, s.channel, m."offset" - h.events + s.n as "offset", s.type, s.data
      from said s join heard h using (channel) join moved m on m.name = s.channel
  ), told as (
    insert into event (channel, "offset", type, data) select channel, "offset", type, data from placed
  )
  select jsonb_build_object('epoch', epoch_of, 'at', wire_time(now()), 'offsets', coalesce(array_agg("offset" order by place), '{}'))
    into given from placed;
  return given;
end $$;

-- Assigns an offset to one event and stores the event. Returns the offset. The caller locks channels in the order of their
-- names.
create or replace function place_event(channel_name text, event_type text, event_data jsonb) returns bigint language plpgsql as $$
declare o bigint;
begin
  update channel c set "offset" = c."offset" + 1 where c.name = channel_name returning c."offset" into o;
  if not found then
    insert into channel as c (name, "offset", epoch)
    select channel_name, channel_start(channel_name, l.channel_floor) + 1, l.epoch from live_epoch l
      on conflict (name) do update set "offset" = c."offset" + 1 returning c."offset" into o;
  end if;
  insert into event (channel, "offset", type, data) values (channel_name, o, event_type, event_data);
  return o;
end $$;

-- Does the same as place_many_events. It is faster for at most 8 events that are sorted by channel: a few short
-- statements with cached plans cost less than one statement that joins, sorts and groups.
create or replace function place_events(p jsonb) returns jsonb language plpgsql as $$
declare
  e jsonb; name_of text; last_name text := ''; offsets bigint[] := '{}'; epoch_of uuid;
begin
  if jsonb_array_length(p) > 8 then return place_many_events(p); end if;
  for i in 0 .. jsonb_array_length(p) - 1 loop
    name_of := p->i->>'channel';
    if name_of < last_name then return place_many_events(p); end if;
    last_name := name_of;
  end loop;
  select l.epoch into epoch_of from live_epoch l;
  for i in 0 .. jsonb_array_length(p) - 1 loop
    e := p->i;
    offsets := offsets || place_event(e->>'channel', e->>'type', e->'data');
  end loop;
  return jsonb_build_object('epoch', epoch_of, 'at', wire_time(now()), 'offsets', offsets);
end $$;

-- Publishes events on behalf of other SQL functions. Returns the channel and offset of each event.
create or replace function put_events(p jsonb) returns jsonb language sql as $$
  with placed as materialized (select place_events(p) as at)
  select coalesce(jsonb_agg(jsonb_build_object('channel', x.e->'channel', 'offset', placed.at->'offsets'->(x.n - 1)::int)
                            order by x.n), '[]')
    from placed, jsonb_array_elements(p) with ordinality as x(e, n)
$$;

-- Adds mail to the outbox. Mail with `kept` has no delivery service: it is stored as already sent, so that it can be
-- read in the outbox but is not delivered.
create or replace function put_mail(p jsonb) returns void language plpgsql as $$
begin
  insert into outbox (recipient, kind, payload, sent_at)
  select x.recipient, x.kind, x.payload, case when x.kept then now() end
    from jsonb_to_recordset(p) as x(recipient text, kind text, payload text, kept boolean);
end $$;

-- Deletes at most `batch` events that are older than `keep`, and returns their number. The events are deleted by their place
-- in the table, so no plan can search the table for them. A client that requests a deleted event detects a gap. Several processes can call this function at the same time.
create or replace function trim_old_events(keep interval, batch int) returns int language plpgsql as $$
declare trimmed int;
begin
  delete from event where ctid = any(array(
    select o.ctid from event o where o.at < now() - keep order by o.at limit batch for update skip locked));
  get diagnostics trimmed = row_count;
  return trimmed;
end $$;

-- Deletes events of the named channels, except the newest `keep_per_channel` of each channel. Deletes at most `batch`
-- events and returns their number. The caller names the channels, because a search of all channels would take longer
-- with every id and every order; the process that stores events knows which channels have too many.
create or replace function trim_channels(names text[], keep_per_channel int, batch int) returns int language plpgsql as $$
declare trimmed int;
begin
  delete from event where ctid = any(array(
    select x.ctid from channel c
     cross join lateral (select o.ctid from event o
                          where o.channel = c.name and o."offset" <= c."offset" - keep_per_channel
                          order by o."offset" limit batch for update skip locked) x
     where c.name = any(names) limit batch));
  get diagnostics trimmed = row_count;
  return trimmed;
end $$;

-- Deletes unused channels: those whose events are all deleted. Looks at the next `batch` channels after the name `past`.
--
-- A deleted channel begins again at live_epoch.channel_floor (channel_start), which must be at least its last offset.
-- A statement that runs during the deletion may still use the floor that it has read before. So the floor is raised first
-- (raise_channel_floor), and channels are deleted after `settled`, the time in which all statements that have read an earlier floor
-- have ended. A reader of a deleted channel is at an offset that is lower than the floor, or equal to it. If it is lower, the
-- reader detects a gap and loads the state; if it is equal, the reader has missed nothing.
--
-- Returns the last name that it has looked at (null if there is none after it), the number of deleted channels, and the
-- highest offset of an unused channel that the floor is too low for. Returns no row while the floor is not settled.
-- The channels are locked before their events are searched again, and a channel that another statement has locked is skipped.
create or replace function prune_channels(past text, batch int, settled interval)
returns table (last_name text, deleted int, highest bigint) language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare low bigint; unused text[]; locked text[];
begin
  select l.channel_floor into low from live_epoch l where l.floor_raised_at <= now() - settled;
  if not found then return; end if;
  with part as materialized (
    select c.name, c."offset", (select true from event e where e.channel = c.name limit 1) is null as is_unused
      from (select i.name, i."offset" from channel i
             where i.name > past and i.name not like 'emoji_id:%' and i.name not like 'market%'
             order by i.name limit batch) c
  )
  select case when count(*) = batch then max(p.name) end, max(p."offset") filter (where p.is_unused and p."offset" > low),
         array_agg(p.name) filter (where p.is_unused and p."offset" <= low)
    into last_name, highest, unused from part p;
  locked := array(select c.name from channel c where c.name = any(unused) for update skip locked);
  delete from channel c
   where c.name = any(locked) and c."offset" <= low and not exists (select 1 from event e where e.channel = c.name);
  get diagnostics deleted = row_count;
  return next;
end $$;

-- Raises the floor of deleted channels, see prune_channels. Does nothing if another process has raised it less than `settled` ago:
-- channels could not be deleted if the floor was raised all the time.
create or replace function raise_channel_floor(wanted bigint, settled interval) returns void language sql as $$
  update live_epoch set channel_floor = wanted, floor_raised_at = now()
   where channel_floor < wanted and floor_raised_at <= now() - settled
$$;

-- Changes the epoch of all channels. It must be called after a backup was restored: offsets that were assigned after
-- the backup are lost, and the new epoch makes every client load the state again.
create or replace function renew_live_epoch() returns uuid language sql as $$
  update live_epoch set epoch = gen_random_uuid() returning epoch
$$;

-- Records the system identifier and the timeline of the server. If they differ from the recorded ones, a standby was
-- promoted or a backup was restored: writes can be lost, so the epoch of the channels is renewed. Returns whether it was.
create or replace function follow_timeline(p_system text, p_timeline int) returns boolean language plpgsql as $$
begin
  insert into database_timeline (system, timeline) values (p_system, p_timeline) on conflict do nothing;
  if found then return false; end if;
  update database_timeline set system = p_system, timeline = p_timeline
   where (system, timeline) is distinct from (p_system, p_timeline);
  if not found then return false; end if;
  perform renew_live_epoch();
  return true;
end $$;

-- Returns the user ids of the owner and the peer of an order or transfer, by the name of its channel. Null if the
-- order or transfer does not exist. The peer is null if the recipient of a transfer may not see it.
create or replace function channel_parties(channel_name text) returns jsonb language sql stable as $$
  select jsonb_build_array(e.owner_id, case when e.kind <> 'transfer' or recipient_sees(e) then e.peer_id end) from entity e
   where e.kind = split_part(channel_name, ':', 1) and e.id = split_part(channel_name, ':', 2)::uuid
$$;

-- Converts an event to the form that readers get. The data is text, because readers send it on without parsing it.
create or replace function event_row(e event) returns jsonb language sql stable as $$
  select jsonb_build_object('offset', e."offset", 'type', e.type, 'data', e.data::text, 'at', wire_time(e.at))
$$;
