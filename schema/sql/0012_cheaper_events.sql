-- The epoch a new channel's row would get is worked out for every row that might be new: now once for many of them, and not
-- at all for a channel that is there. All events of a transaction are of one time, so that is written out once as well.
-- Positions come in the order the events were given in.

-- Channels are locked in the order of their names: two turns over the same channels cannot deadlock.
create or replace function put_many_events(p jsonb) returns jsonb language plpgsql as $$
declare given jsonb; at_time text := wire_time(now());
begin
  with said as materialized (
    select x.n as place, x.e->>'channel' as channel, x.e->>'type' as type, x.e->'data' as data,
           row_number() over (partition by x.e->>'channel' order by x.n) as n
      from jsonb_array_elements(p) with ordinality as x(e, n)
  ), heard as materialized (
    select channel, count(*) as events from said group by channel order by channel
  ), moved as (
    insert into channel as c (name, "offset", epoch)
    select channel, events, (select epoch from live_epoch) from heard
    on conflict (name) do update set "offset" = c."offset" + excluded."offset"
    returning c.name, c."offset", c.epoch
  ), placed as materialized (
    select s.place, s.channel, m."offset" - h.events + s.n as "offset", m.epoch, s.type, s.data
      from said s join heard h using (channel) join moved m on m.name = s.channel
  ), told as (
    insert into event (channel, "offset", type, data) select channel, "offset", type, data from placed
  )
  select coalesce(jsonb_agg(jsonb_build_object('channel', channel, 'offset', "offset", 'epoch', epoch, 'at', at_time)
                            order by place), '[]')
    into given from placed;
  return given;
end $$;

-- The same for few, with short statements whose plans are there already. Senders name channels in order, so that is seen
-- to and not done here.
create or replace function put_events(p jsonb) returns jsonb language plpgsql as $$
declare
  e jsonb; name_of text; last_name text := ''; o bigint; epoch_of uuid; given jsonb := '[]'; at_time text := wire_time(now());
begin
  if jsonb_array_length(p) > 8 then return put_many_events(p); end if;
  for i in 0 .. jsonb_array_length(p) - 1 loop
    name_of := p->i->>'channel';
    if name_of < last_name then return put_many_events(p); end if;
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
    given := given || jsonb_build_object('channel', name_of, 'offset', o, 'epoch', epoch_of, 'at', at_time);
  end loop;
  return given;
end $$;
