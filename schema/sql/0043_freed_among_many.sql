-- As before; but the ids nobody asked about that are due first, which carts free all the time, are done with beforehand: they
-- do not take the places of those somebody waits for.
create or replace function take_freed(p_lease uuid, p_limit int, p_lease_seconds int)
returns table (canonical text, first_told boolean) language plpgsql as $$
#variable_conflict use_column
declare gone int;
begin
  for pass in 1..100 loop
    with due as (
      select f.canonical from freed_id f where f.due_at <= now() and (f.leased_until is null or f.leased_until < now())
       order by f.due_at limit p_limit for update skip locked)
    delete from freed_id f using due d
     where f.canonical = d.canonical and not exists (select 1 from user_interest i where i.canonical = f.canonical);
    get diagnostics gone = row_count;
    exit when gone < p_limit;
  end loop;
  return query
  with due as (
    select f.canonical, exists (select 1 from user_interest i where i.canonical = f.canonical) as wanted
      from freed_id f where f.due_at <= now() and (f.leased_until is null or f.leased_until < now())
     order by f.due_at limit p_limit for update skip locked
  ), unwanted as (
    delete from freed_id f using due d where f.canonical = d.canonical and not d.wanted
  )
  update freed_id f set lease = p_lease, leased_until = now() + make_interval(secs => p_lease_seconds)
    from due d where f.canonical = d.canonical and d.wanted
  returning f.canonical, f.first_told;
end $$;
