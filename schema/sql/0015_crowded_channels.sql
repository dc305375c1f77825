-- Which channels have more events than are kept was looked for in all of them, every minute; with every id and every order
-- there is one more. Whoever places an event knows how many there are, so now the crowded ones are named. trim_events stays
-- for processes of the version before.

-- Both forget at most `batch` events per call and answer how many. What is missing afterwards shows as a hole to whoever
-- still asks for it. Several processes may call them at once.
create function trim_old_events(keep interval, batch int) returns int language plpgsql as $$
declare trimmed int;
begin
  delete from event e using (
    select o.channel, o."offset" from event o where o.at < now() - keep
     order by o.at limit batch for update skip locked) old
   where e.channel = old.channel and e."offset" = old."offset";
  get diagnostics trimmed = row_count;
  return trimmed;
end $$;

create function trim_channels(names text[], keep_per_channel int, batch int) returns int language plpgsql as $$
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
