-- Functions for rate limits and idempotency keys.

-- Counts one request for each of the rate limit keys. Returns for each key how many requests its window has counted
-- and when the window ends. Keys are locked in order.
create or replace function take_rate(p_keys text[], p_seconds int[])
returns table (key text, used int, resets_at timestamptz) language sql as $$
  insert into rate_window as w (key, used, resets_at)
  select x.key, 1, now() + make_interval(secs => x.seconds)
    from unnest(p_keys, p_seconds) as x(key, seconds) order by x.key
  on conflict (key) do update
     set used = case when w.resets_at <= now() then 1 else w.used + 1 end,
         resets_at = case when w.resets_at <= now() then excluded.resets_at else w.resets_at end
  returning w.key, w.used, w.resets_at
$$;

-- Begins a request with an idempotency key. Returns the outcome 'run' (the caller executes the request), 'repeat'
-- (with the stored response), 'running' (the first request has not finished) or 'other' (the key was used for a
-- different request).
create or replace function begin_once(p_caller text, p_key text, p_hash text, p_run uuid, p_lease_seconds int, p_keep_seconds int)
returns table (outcome text, status int, answer text) language plpgsql as $$
declare k idempotency_key;
begin
  insert into idempotency_key as i (caller, key, request_hash, run, leased_until)
  values (p_caller, p_key, p_hash, p_run, clock_timestamp() + make_interval(secs => p_lease_seconds))
  on conflict (caller, key) do update
     set request_hash = excluded.request_hash, run = excluded.run, leased_until = excluded.leased_until,
         status = null, answer = null, created_at = now()
   where i.run = excluded.run
      or i.created_at < clock_timestamp() - make_interval(secs => p_keep_seconds)
      or (i.status is null and i.leased_until < clock_timestamp() and i.request_hash = excluded.request_hash)
  returning i.* into k;
  if found then return query select 'run', null::int, null::text; return; end if;
  select * into k from idempotency_key i where i.caller = p_caller and i.key = p_key;
  return query select
    case when k.request_hash is distinct from p_hash then 'other' when k.status is null then 'running' else 'repeat' end,
    k.status, k.answer;
end $$;
