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

-- Begins a request with an idempotency key. Returns the outcome
--   run      the caller executes the request
--   repeat   with the stored response
--   finish   an earlier attempt committed its effect, but stored no response; the caller makes the response from the outcome
--   running  another attempt has not finished
--   other    the key was used for a different request
-- An attempt that committed its effect gets two seconds to store its response before another one makes it.
create or replace function begin_operation(p_caller text, p_key text, p_hash text, p_run uuid, p_lease_seconds int,
                                           p_keep_seconds int)
returns table (outcome text, status int, answer text, kept text, kept_rows jsonb, kept_run uuid) language plpgsql as $$
declare k idempotency_key;
begin
  insert into idempotency_key as i (caller, key, request_hash, run, leased_until)
  values (p_caller, p_key, p_hash, p_run, clock_timestamp() + make_interval(secs => p_lease_seconds))
  on conflict (caller, key) do update
     set request_hash = excluded.request_hash, run = excluded.run, leased_until = excluded.leased_until,
         status = null, answer = null, outcome = null, outcome_rows = null, committed_at = null, created_at = now()
   where (i.run = excluded.run and i.committed_at is null)
      or i.created_at < clock_timestamp() - make_interval(secs => p_keep_seconds)
      or (i.status is null and i.committed_at is null and i.leased_until < clock_timestamp()
          and i.request_hash = excluded.request_hash)
  returning i.* into k;
  if found then return query select 'run', null::int, null::text, null::text, null::jsonb, null::uuid; return; end if;
  update idempotency_key i set leased_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
   where i.caller = p_caller and i.key = p_key and i.request_hash = p_hash and i.status is null
     and i.committed_at is not null
     and (i.leased_until < clock_timestamp() or i.committed_at < clock_timestamp() - interval '2 seconds')
  returning i.* into k;
  if found then return query select 'finish', null::int, null::text, k.outcome, k.outcome_rows, k.run; return; end if;
  select * into k from idempotency_key i where i.caller = p_caller and i.key = p_key;
  return query select
    case when k.request_hash is distinct from p_hash then 'other' when k.status is null then 'running' else 'repeat' end,
    k.status, k.answer, null::text, null::jsonb, null::uuid;
end $$;

-- Locks the key for the statement that calls it. Raises EI004 if this attempt must not commit: with the detail
-- `committed` if it already has, and `lost` if another attempt has taken over the key.
create or replace function hold_key(p_caller text, p_key text, p_run uuid) returns boolean language plpgsql as $$
declare k idempotency_key;
begin
  select * into k from idempotency_key i where i.caller = p_caller and i.key = p_key and i.run = p_run for update;
  if found and k.committed_at is null then return true; end if;
  raise exception using errcode = 'EI004', message = 'key not held',
    detail = case when found then 'committed' else 'lost' end;
end $$;

-- Stores the outcomes of requests {caller, key, run, outcome, rows} whose effects the calling statement commits. `outcome` is
-- encrypted; `rows` are what the statement returns for the request. Raises EI004 (detail: the runs) if attempts must not
-- commit, because others have taken over their keys.
create or replace function commit_keys(p jsonb) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare held uuid[]; lost jsonb;
begin
  with want as (select x.* from jsonb_to_recordset(p) as x(caller text, key text, run uuid, outcome text, rows jsonb)
                 order by x.caller, x.key),
  done as (
    update idempotency_key i set outcome = w.outcome, outcome_rows = w.rows, committed_at = clock_timestamp()
      from want w where i.caller = w.caller and i.key = w.key and i.run = w.run and i.committed_at is null
    returning i.run)
  select array_agg(run) into held from done;
  if coalesce(array_length(held, 1), 0) = jsonb_array_length(p) then return; end if;
  select jsonb_agg(x->'run') into lost from jsonb_array_elements(p) x where (x->>'run')::uuid <> all(coalesce(held, '{}'));
  raise exception using errcode = 'EI004', message = 'key not held', detail = lost::text;
end $$;

-- Only for processes of release 0.2.0 that still run during an upgrade. Begins a request with an idempotency key.
create or replace function begin_once(p_caller text, p_key text, p_hash text, p_run uuid, p_lease_seconds int, p_keep_seconds int)
returns table (outcome text, status int, answer text) language plpgsql as $$
declare k idempotency_key;
begin
  insert into idempotency_key as i (caller, key, request_hash, run, leased_until)
  values (p_caller, p_key, p_hash, p_run, clock_timestamp() + make_interval(secs => p_lease_seconds))
  on conflict (caller, key) do update
     set request_hash = excluded.request_hash, run = excluded.run, leased_until = excluded.leased_until,
         status = null, answer = null, outcome = null, outcome_rows = null, committed_at = null, created_at = now()
   where i.run = excluded.run
      or i.created_at < clock_timestamp() - make_interval(secs => p_keep_seconds)
      or (i.status is null and i.committed_at is null and i.leased_until < clock_timestamp()
          and i.request_hash = excluded.request_hash)
  returning i.* into k;
  if found then return query select 'run', null::int, null::text; return; end if;
  select * into k from idempotency_key i where i.caller = p_caller and i.key = p_key;
  return query select
    case when k.request_hash is distinct from p_hash then 'other' when k.status is null then 'running' else 'repeat' end,
    k.status, k.answer;
end $$;
