-- Functions for interests. Users with an interest in an id are notified when the id becomes free.

-- Adds an interest of a user in an id and returns it. Returns an interest with another id than p_id if the user already
-- has one. A statement that is sent again has the same p_id, so its answer is the same. Returns no row if the user does not exist,
-- owns the id, or has p_most interests already.
create or replace function add_interest(p_id uuid, p_user uuid, p_canonical text, p_most int) returns setof user_interest language plpgsql as $$
begin
  if not hold_user(p_user) then return; end if;
  insert into user_interest (id, user_id, canonical)
  select p_id, p_user, p_canonical
   where not exists (select 1 from claim c where c.canonical = p_canonical and c.owner_id = p_user)
     and (select count(*) from user_interest o where o.user_id = p_user) < p_most
  on conflict (user_id, canonical) do nothing;
  return query select * from user_interest where user_id = p_user and canonical = p_canonical;
end $$;

-- Adds freed ids to the queue of notifications. If an id is freed again, its notifications start from the beginning,
-- and a worker that still handles the earlier release loses its lease. Claims of lootboxes (`lootbox:…`) are not ids
-- and are skipped.
create or replace function put_freed(ids text[]) returns void language sql as $$
  insert into freed_id (canonical) select distinct x from unnest(ids) x where x not like 'lootbox:%' order by 1
  on conflict (canonical) do update
     set freed_at = now(), first_told = false, due_at = now(), lease = null, leased_until = null
$$;

-- Leases freed ids whose interested users must be notified now. Most freed ids come from expired carts, and no user
-- is interested in them. These ids are deleted first, so that they use up little of p_limit.
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

-- Notifies the given users once that an id is free. Does nothing if the worker has lost its lease, or if the id has a
-- claim again. The first notified user gets a head start; the other users are notified when it has passed.
create or replace function tell_freed(p jsonb) returns jsonb language plpgsql as $$
declare f freed_id; given jsonb;
begin
  select * into f from freed_id where canonical = p->>'canonical' and lease = (p->>'lease')::uuid for update;
  if not found then return '[]'; end if;
  if (p->>'done')::boolean or exists (select 1 from claim c where c.canonical = f.canonical) then
    delete from freed_id where canonical = f.canonical;
  else
    update freed_id set first_told = true, lease = null, leased_until = null,
           due_at = now() + make_interval(secs => case when f.first_told then 0 else (p->>'head_start_seconds')::int end)
     where canonical = f.canonical;
  end if;
  if exists (select 1 from claim c where c.canonical = f.canonical) then return '[]'; end if;
  insert into interest_notice (user_id, canonical)
  select x::uuid, f.canonical from jsonb_array_elements_text(p->'users') x order by 1
  on conflict (user_id, canonical) do update set told_at = now();
  perform put_mail(p->'mail');
  given := put_events((select coalesce(jsonb_agg(jsonb_build_object('channel', 'interests:' || x, 'type', 'interest.available',
             'data', jsonb_build_object('emoji_id', f.canonical)) order by n), '[]')
             from jsonb_array_elements_text(p->'users') with ordinality as t(x, n)));
  return given;
end $$;

-- Replaces the parameters, and queues notices for the users who have an interest in the released ids.
create or replace function put_price_parameters(given jsonb, released text[]) returns void language sql as $$
  insert into price_parameters as p (parameters) values (given)
  on conflict (sole) do update set parameters = excluded.parameters, version = p.version + 1, updated_at = now();
  select put_freed(released);
$$;
