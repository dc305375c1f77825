-- The epoch a new channel's row would get was worked out for every row that might be new: now once for many of them, and not
-- at all for a channel that is there. Whoever sends events knows their channels: they are told where each has come to and
-- no more.

-- The new offsets in the order the events were given in, and the epoch and the time they share. An epoch of null: not all
-- of the channels have the same one. Channels are locked in the order of their names: two turns over the same channels
-- cannot deadlock.
create function place_many_events(p jsonb) returns jsonb language plpgsql as $$
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

-- Few get short statements whose plans are there already. Senders name their channels in order, so that is only seen to.
create function place_events(p jsonb) returns jsonb language plpgsql as $$
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

-- For statements that make their events themselves: the channels by name, and how far each has come.
create or replace function put_events(p jsonb) returns jsonb language sql as $$
  with placed as materialized (select place_events(p) as at)
  select coalesce(jsonb_agg(jsonb_build_object('channel', x.e->'channel', 'offset', placed.at->'offsets'->(x.n - 1)::int)
                            order by x.n), '[]')
    from placed, jsonb_array_elements(p) with ordinality as x(e, n)
$$;
drop function put_many_events(jsonb);

-- As before, but for what it answers: {version, places}, where places is what place_events says.
create or replace function commit_turn(p jsonb) returns jsonb language plpgsql as $$
declare
  was int := (p->>'expected')::int;
  now_version int; now_turn uuid; places jsonb;
begin
  if was = 0 then
    insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, due_at)
    values (p->>'kind', (p->>'id')::uuid, 1, (p->>'turn')::uuid, p->>'status', p->'state',
            (p->>'owner_id')::uuid, (p->>'peer_id')::uuid, p->>'subject', (p->>'due_at')::timestamptz)
    on conflict (kind, id) do nothing;
  else
    update entity set version = was + 1, turn = (p->>'turn')::uuid, status = p->>'status', state = p->'state',
           owner_id = (p->>'owner_id')::uuid, peer_id = (p->>'peer_id')::uuid, subject = p->>'subject',
           due_at = (p->>'due_at')::timestamptz, leased_until = null, updated_at = now()
     where kind = p->>'kind' and id = (p->>'id')::uuid and version = was;
  end if;
  if not found then
    select version, turn into now_version, now_turn from entity where kind = p->>'kind' and id = (p->>'id')::uuid;
    if now_turn = (p->>'turn')::uuid then return jsonb_build_object('version', now_version, 'repeated', true); end if;
    raise exception using errcode = 'EI001', message = 'version conflict';
  end if;

  if p ? 'claims' then perform put_claims(p->'claims'); end if;
  if p ? 'releases' then perform put_releases((p->>'id')::uuid, p->'releases'); end if;
  if p ? 'grants' then perform put_grants(p->'grants'); end if;
  if p ? 'moves' then perform put_moves(p->'moves'); end if;
  if p ? 'ledger' then perform put_ledger((p->>'id')::uuid, p->'ledger'); end if;
  if p ? 'sandbox_intents' then perform put_sandbox_intents((p->>'id')::uuid, p->'sandbox_intents'); end if;
  if p ? 'uses' then perform put_code_uses((p->>'id')::uuid, p->'uses'); end if;
  if p ? 'free_ids' then perform put_free_ids(p->'free_ids'); end if;
  if p ? 'mail' then perform put_mail(p->'mail'); end if;
  if p ? 'events' then places := place_events(p->'events'); end if;
  return jsonb_build_object('version', was + 1, 'places', places);
end $$;
