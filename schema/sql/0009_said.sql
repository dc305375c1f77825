-- All events of a turn in one statement. Channels are locked in name order: two turns over the same channels cannot
-- deadlock. What comes back is all that a process which has the events itself needs to show them without reading them.
create or replace function put_events(p jsonb) returns jsonb language plpgsql as $$
declare given jsonb;
begin
  with said as materialized (
    select x.e->>'channel' as channel, x.e->>'type' as type, x.e->'data' as data,
           row_number() over (partition by x.e->>'channel' order by x.n) as n,
           count(*) over (partition by x.e->>'channel') as of
      from jsonb_array_elements(p) with ordinality as x(e, n)
  ), moved as (
    insert into channel as c (name, "offset")
    select channel, count(*) from said group by channel order by channel
    on conflict (name) do update set "offset" = c."offset" + excluded."offset"
    returning c.name, c."offset", c.epoch
  ), told as (
    insert into event (channel, "offset", type, data)
    select s.channel, m."offset" - s.of + s.n, s.type, s.data from said s join moved m on m.name = s.channel
    returning channel, "offset", at
  )
  select coalesce(jsonb_agg(jsonb_build_object('channel', t.channel, 'offset', t."offset", 'epoch', m.epoch,
                                               'at', wire_time(t.at)) order by t.channel, t."offset"), '[]')
    into given from told t join moved m on m.name = t.channel;
  return given;
end $$;
