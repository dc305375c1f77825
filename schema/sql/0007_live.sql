-- Where clients of the live socket stand: (epoch, offset) of a channel.

-- One epoch for the whole database. A channel that has no row yet stands at (epoch, 0), and gets this epoch with its
-- first event: a subscriber from before is told every event, and nobody can make rows by subscribing.
create table live_epoch (
  only_row boolean primary key default true check (only_row),
  epoch    uuid    not null default gen_random_uuid()
);
insert into live_epoch default values;

create function live_epoch() returns uuid language sql stable as $$ select epoch from live_epoch $$;
alter table channel alter column epoch set default live_epoch();

-- To be called after a backup was restored: offsets given out since it was taken are void, so every client starts over.
create function renew_live_epoch() returns uuid language sql as $$
  with renewed as (update live_epoch set epoch = gen_random_uuid() returning epoch),
       moved as (update channel set epoch = (select epoch from renewed) returning 1)
  select epoch from renewed
$$;

-- Forgets events past their time or beyond so many of one channel, at most `batch` of each sort per call. What is missing
-- afterwards shows as a hole to whoever still asks for it. Several processes may call this at once.
create function trim_events(keep interval, keep_per_channel int, batch int) returns int language plpgsql as $$
declare late int; surplus int;
begin
  delete from event e using (
    select o.channel, o."offset" from event o where o.at < now() - keep
     order by o.at limit batch for update skip locked) old
   where e.channel = old.channel and e."offset" = old."offset";
  get diagnostics late = row_count;
  delete from event e using (
    select x.channel, x."offset" from channel c
     cross join lateral (select o.channel, o."offset" from event o
                          where o.channel = c.name and o."offset" <= c."offset" - keep_per_channel
                          order by o."offset" limit batch for update skip locked) x
     where c."offset" > keep_per_channel limit batch) old
   where e.channel = old.channel and e."offset" = old."offset";
  get diagnostics surplus = row_count;
  return greatest(late, surplus);
end $$;

-- Who an order or a transfer concerns, by the name of its channel; null when there is none of that id.
create function channel_parties(channel_name text) returns jsonb language sql stable as $$
  select jsonb_build_array(e.owner_id, e.peer_id) from entity e
   where e.kind = split_part(channel_name, ':', 1) and e.id = split_part(channel_name, ':', 2)::uuid
$$;

-- An event as readers get it: its data as text, because nobody on the way looks into it.
create function event_row(e event) returns jsonb language sql stable as $$
  select jsonb_build_object('offset', e."offset", 'type', e.type, 'data', e.data::text, 'at', wire_time(e.at))
$$;

-- An id as a payer sees it: its records, oldest first, the key it belongs to, and a version that rises with every change.
create function live_lookup(id text) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'emoji_id', id, 'canonical', id, 'status', e.canonical is not null, 'pubkey', e.pubkey, 'version', coalesce(e.version, 0),
    'error', case when e.canonical is null
                  then '{"code": "not_registered", "reason": "The id is valid but not registered."}'::jsonb end,
    'result', (select coalesce(jsonb_agg(jsonb_build_object(
                 'tag', '0x' || lpad(to_hex(r.tag), 4, '0'), 'data', r.data, 'hash', r.hash) order by r.seq), '[]')
                 from record r where r.canonical = id))
    from (select 1) one left join emoji_id e on e.canonical = id
$$;
