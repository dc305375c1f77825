-- Functions that commit turns: entities, claims, events and mail. The turn statement calls commit_batch; the other functions
-- are its parts, or are called by functions of other subjects that publish events or claim ids themselves.

-- Three planner settings are switched off for the functions that write sets. A plan is cached for as long as its connection,
-- and the first plans are made while the tables are small. These functions join a few rows to a table of any size, so they
-- must use the index from the start.

-- A time as API responses show it. Stable and not immutable, because to_char is only stable: Postgres inlines an SQL function
-- only if it does not claim more than its body, and calls it once per value otherwise.
create or replace function wire_time(t timestamptz) returns text language sql stable as $$
  select to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Commits a batch of turns atomically: one statement for many turns costs less than half per turn, and they share one WAL flush.
--   p.begun   new entities
--   p.turned  entities with the version they are expected to have
--   p.claims, p.releases, p.grants, p.moves, p.ledger, p.sandbox_intents, p.uses, p.free_ids, p.mail
--             effects, one list per kind over all turns, so that rows are locked kind by kind and in order
--   said      channels and events, see place_said
-- Returns what place_said returns, or null if exactly these turns were committed before. Raises EI001 (detail: the ids of the
-- entities) if another turn was committed first, and EI002 if another holder has an id. The caller then retries without them.
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
  if p ? 'ledger' then perform put_ledger(p->'ledger'); end if;
  if p ? 'sandbox_intents' then perform put_sandbox_intents(p->'sandbox_intents'); end if;
  if p ? 'uses' then
    perform put_code_uses(x.id, x.list) from jsonb_to_recordset(p->'uses') as x(id uuid, list jsonb);
  end if;
  if p ? 'free_ids' then perform put_free_ids(p->'free_ids'); end if;
  if p ? 'mail' then perform put_mail(p->'mail'); end if;
  if said is not null then places := place_said(said); end if;
  return places;
end $$;

-- Claims ids, all or none. A claim without from_holder takes a free id, or changes the kind of a claim its holder already has
-- (an order's hold becomes owned). A claim with from_holder takes the id from that holder, or takes it if it is free. `held`
-- requires the id to be with from_holder now; a free id is then refused.
--
-- Raises EI002. The detail lists the ids that are taken; the hint lists the positions of the refused claims, counted from one,
-- because several turns of a batch may want the same id and only some of them get it.
--
-- Each step goes through the ids in order: lock what is taken from a holder, insert what is free, then move what was locked.
-- An insert waits for a concurrent insert or move of its id, but not for a row that is only locked. A statement
-- therefore never waits for one that is a step behind, and there are no deadlocks. If several claims of one batch take the
-- same id from the same holder, only the first one gets it (distinct on).
create or replace function put_claims(p jsonb) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare locked bigint[] := '{}'; left_over bigint[]; want record; taken text[]; lost bigint[];
begin
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

  -- Some of these may already be with their holder.
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

-- Deletes the claims of a holder. A background worker notifies users who are interested in the freed ids (put_freed).
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

-- Assigns offsets and stores events.
--   p.channels  each channel once: its name and how many events it gets
--   p.events    the number of the channel in that list, how many of its events come after this one, type and data
-- Returns the last offset of each channel in the given order, and the epoch and the time the events share. The epoch is null if
-- the channels do not all have the same one. Offsets are assigned under the lock of the channel's row, so they follow the
-- order of commits without gaps. Channels are locked in the order of their names, so two batches cannot deadlock.
create or replace function place_said(p jsonb) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  given text[] := array(select c->>'name' from jsonb_array_elements(p->'channels') c);
  names text[]; ends bigint[]; epoch_of uuid := live_epoch(); is_shared boolean;
begin
  with moved as (
    insert into channel as c (name, "offset", epoch)
    select x.name, x.events, epoch_of from jsonb_to_recordset(p->'channels') as x(name text, events int) order by x.name
    on conflict (name) do update set "offset" = c."offset" + excluded."offset"
    returning c.name, c."offset", c.epoch
  )
  select array_agg(m.name), array_agg(m."offset"), bool_and(m.epoch = epoch_of) into names, ends, is_shared from moved m;
  if names <> given then
    ends := array(select m."end" from unnest(given) with ordinality as g(name, number)
                    join unnest(names, ends) as m(name, "end") using (name) order by g.number);
  end if;
  insert into event (channel, "offset", type, data)
  select given[x.channel], ends[x.channel] - x.after, x.type, x.data
    from jsonb_to_recordset(p->'events') as x(channel int, after int, type text, data jsonb);
  return jsonb_build_object('epoch', case when is_shared then epoch_of end, 'at', wire_time(now()), 'ends', ends);
end $$;

-- The same for a plain list of events {channel, type, data}. Returns the offset of each event, and the epoch and time they share.
create or replace function place_many_events(p jsonb) returns jsonb language plpgsql as $$
declare given jsonb; epoch_of uuid := live_epoch();
begin
  with said as materialized (
    select x.n as place, x.e->>'channel' as channel, x.e->>'type' as type, x.e->'data' as data,
           row_number() over (partition by x.e->>'channel' order by x.n) as n
      from jsonb_array_elements(p) with ordinality as x(e, n)
  ), heard as materialized (
    select channel, count(*) as events from said group by channel order by channel
  ), moved as (
    insert into channel as c (name, "offset", epoch)
    select channel, events, epoch_of from heard
    on conflict (name) do update set "offset" = c."offset" + excluded."offset"
    returning c.name, c."offset", c.epoch
  ), placed as materialized (
    select s.place, s.channel, m."offset" - h.events + s.n as "offset", m.epoch, s.type, s.data
      from said s join heard h using (channel) join moved m on m.name = s.channel
  ), told as (
    insert into event (channel, "offset", type, data) select channel, "offset", type, data from placed
  )
  select jsonb_build_object('epoch', case when bool_and(epoch = epoch_of) then epoch_of end, 'at', wire_time(now()),
                            'offsets', coalesce(array_agg("offset" order by place), '{}'))
    into given from placed;
  return given;
end $$;

-- The same, cheaper for few events in the order of their channels: short statements with cached plans cost less than one
-- statement that joins, sorts and groups.
create or replace function place_events(p jsonb) returns jsonb language plpgsql as $$
declare
  e jsonb; name_of text; last_name text := ''; o bigint; offsets bigint[] := '{}';
  epoch_of uuid; first_epoch uuid; is_shared boolean := true;
begin
  if jsonb_array_length(p) > 8 then return place_many_events(p); end if;
  for i in 0 .. jsonb_array_length(p) - 1 loop
    name_of := p->i->>'channel';
    if name_of < last_name then return place_many_events(p); end if;
    last_name := name_of;
  end loop;
  for i in 0 .. jsonb_array_length(p) - 1 loop
    e := p->i;
    name_of := e->>'channel';
    update channel c set "offset" = c."offset" + 1 where c.name = name_of returning c."offset", c.epoch into o, epoch_of;
    if not found then
      insert into channel as c (name, "offset") values (name_of, 1)
        on conflict (name) do update set "offset" = c."offset" + 1 returning c."offset", c.epoch into o, epoch_of;
    end if;
    insert into event (channel, "offset", type, data) values (name_of, o, e->>'type', e->'data');
    offsets := offsets || o;
    if first_epoch is null then first_epoch := epoch_of; end if;
    if epoch_of <> first_epoch then is_shared := false; end if;
  end loop;
  return jsonb_build_object('epoch', case when is_shared then first_epoch end, 'at', wire_time(now()), 'offsets', offsets);
end $$;

-- For functions that create events themselves. Returns channel and offset of each event.
create or replace function put_events(p jsonb) returns jsonb language sql as $$
  with placed as materialized (select place_events(p) as at)
  select coalesce(jsonb_agg(jsonb_build_object('channel', x.e->'channel', 'offset', placed.at->'offsets'->(x.n - 1)::int)
                            order by x.n), '[]')
    from placed, jsonb_array_elements(p) with ordinality as x(e, n)
$$;

-- Adds mail to the outbox. `kept` is mail without a delivery service: it stays in the outbox to be read there and counts as sent.
create or replace function put_mail(p jsonb) returns void language plpgsql as $$
begin
  insert into outbox (recipient, kind, payload, sent_at)
  select x.recipient, x.kind, x.payload, case when x.kept then now() end
    from jsonb_to_recordset(p) as x(recipient text, kind text, payload text, kept boolean);
end $$;

-- Deletes events older than `keep`, at most `batch` of them, and returns how many. A client that asks for a deleted event
-- sees a gap. Several processes may call this at the same time.
create or replace function trim_old_events(keep interval, batch int) returns int language plpgsql as $$
declare trimmed int;
begin
  delete from event e using (
    select o.channel, o."offset" from event o where o.at < now() - keep
     order by o.at limit batch for update skip locked) old
   where e.channel = old.channel and e."offset" = old."offset";
  get diagnostics trimmed = row_count;
  return trimmed;
end $$;

-- Deletes the events of the named channels beyond the newest `keep_per_channel`. The process that stores an event knows which
-- channels have too many, so it names them: searching all channels would take longer with every id and every order.
create or replace function trim_channels(names text[], keep_per_channel int, batch int) returns int language plpgsql as $$
declare trimmed int;
begin
  delete from event e using (
    select x.channel, x."offset" from channel c
     cross join lateral (select o.channel, o."offset" from event o
                          where o.channel = c.name and o."offset" <= c."offset" - keep_per_channel
                          order by o."offset" limit batch for update skip locked) x
     where c.name = any(names) limit batch) old
   where e.channel = old.channel and e."offset" = old."offset";
  get diagnostics trimmed = row_count;
  return trimmed;
end $$;

-- Changes the epoch of every channel. To be called after restoring a backup: offsets assigned since the backup are void, and a
-- new epoch makes every client start over.
create or replace function renew_live_epoch() returns uuid language sql as $$
  with renewed as (update live_epoch set epoch = gen_random_uuid() returning epoch),
       moved as (update channel set epoch = (select epoch from renewed) returning 1)
  select epoch from renewed
$$;

-- Owner and peer of an order or a transfer, by the name of its channel. Null if there is no such entity.
create or replace function channel_parties(channel_name text) returns jsonb language sql stable as $$
  select jsonb_build_array(e.owner_id, e.peer_id) from entity e
   where e.kind = split_part(channel_name, ':', 1) and e.id = split_part(channel_name, ':', 2)::uuid
$$;

-- An event as readers get it. The data stays text because no reader looks into it.
create or replace function event_row(e event) returns jsonb language sql stable as $$
  select jsonb_build_object('offset', e."offset", 'type', e.type, 'data', e.data::text, 'at', wire_time(e.at))
$$;
