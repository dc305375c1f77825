-- Functions for the members of the cluster: processes with caches. A member has a lease. A write that changes cached data
-- is committed only if every member whose lease is valid has acknowledged it (check_fence). See src/cluster/invalidation-protocol.ts.

-- The advisory lock of the members. A join takes it exclusively, a write shared. So a join waits for the running writes,
-- which do not know the new member, and every later write sees it.
create or replace function cluster_lock() returns bigint language sql immutable as $$ select 7205759403792794 $$;

-- What a member learns whenever it asks.
--   now      the time of the database before everything else in this call, in milliseconds
--   xid      the transaction of this call. It is higher than that of every write that passed its fence before `now`.
--   xmin     all transactions below it have ended
--   members  the other members whose leases are valid
create or replace function cluster_view(p_member text, started timestamptz) returns jsonb language plpgsql as $$
begin
  return jsonb_build_object(
    'now', extract(epoch from started) * 1000,
    'xid', pg_current_xact_id()::text::bigint,
    'xmin', pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
    'members', (
      select coalesce(jsonb_agg(jsonb_build_object(
               'id', m.id, 'remainingMs', extract(epoch from m.lease_until - clock_timestamp()) * 1000, 'deaf', m.deaf,
               'openFrom', m.open_from, 'held', m.held)), '[]')
        from cluster_member m where m.lease_until > clock_timestamp() and m.id <> p_member));
end $$;

-- Shortens the leases of others if the clock of the database was set back. Without this, the lease of a process that has died
-- would last as long.
create or replace function shorten_leases(p jsonb, started timestamptz) returns void language sql as $$
  update cluster_member set lease_until = started + make_interval(secs => (p->>'leaseMs')::float8 / 1000)
   where id in (select id from cluster_member
                 where id <> p->>'id' and lease_until > started + make_interval(secs => 2 * (p->>'leaseMs')::float8 / 1000)
                   for update skip locked)
$$;

-- Reads the members without being one.
create or replace function watch_cluster(p jsonb) returns jsonb language plpgsql as $$
declare started timestamptz := clock_timestamp();
begin
  perform shorten_leases(p, started);
  return cluster_view(p->>'id', started);
end $$;

-- Joins, for the first time or again. If a write runs for longer than the lock timeout, the join fails and is tried again, so
-- that it does not delay the other writes, which wait behind it.
create or replace function join_cluster(p jsonb) returns jsonb language plpgsql set lock_timeout = '100ms' as $$
declare started timestamptz := clock_timestamp();
begin
  perform pg_advisory_xact_lock(cluster_lock());
  perform shorten_leases(p, started);
  delete from cluster_member where id in (
    select id from cluster_member where lease_until < clock_timestamp() - interval '1 minute' for update skip locked);
  insert into cluster_member as m (id, lease_until, joined, deaf, open_from, held)
  values (p->>'id', clock_timestamp() + make_interval(secs => (p->>'leaseMs')::float8 / 1000), (p->>'joined')::int,
          (p->>'deaf')::boolean, (p->>'openFrom')::bigint, p->'held')
  on conflict (id) do update set lease_until = excluded.lease_until, joined = excluded.joined, deaf = excluded.deaf,
                                 open_from = excluded.open_from, held = excluded.held;
  -- A crash of the server must not forget a member, so this commit waits for the disk.
  perform set_config('synchronous_commit', 'on', true);
  return cluster_view(p->>'id', started);
end $$;

-- Extends the lease of a member. Returns null if it has expired: other processes may have committed writes that the member
-- does not know.
create or replace function renew_member(p jsonb) returns jsonb language plpgsql as $$
declare started timestamptz := clock_timestamp();
begin
  perform shorten_leases(p, started);
  update cluster_member
     set lease_until = clock_timestamp() + make_interval(secs => (p->>'leaseMs')::float8 / 1000), deaf = (p->>'deaf')::boolean,
         open_from = (p->>'openFrom')::bigint, held = p->'held'
   where id = p->>'id' and lease_until > clock_timestamp();
  if not found then return null; end if;
  perform set_config('synchronous_commit', 'on', true);
  return cluster_view(p->>'id', started);
end $$;

-- Deletes the row of a member, unless it has joined again: this statement may run long after the member has sent it.
create or replace function leave_cluster(p jsonb) returns void language sql as $$
  delete from cluster_member where id = p->>'id' and joined = (p->>'joined')::int
$$;

-- Checks, inside the statement of a write, that no process can answer an older version after its commit.
--   p.acked     the members that have dropped the changed keys and do not cache them until the write has ended
--   p.deadline  they keep this promise for every write that passes this check until then (milliseconds, time of the database)
-- Raises EI005 if another member has a valid lease (detail: the ids), and EI006 after the deadline.
create or replace function check_fence(p jsonb) returns boolean language plpgsql as $$
declare at timestamptz; silent jsonb;
begin
  perform pg_advisory_xact_lock_shared(cluster_lock());
  -- Assigned before the clock is read, see `xid` of cluster_view.
  perform pg_current_xact_id();
  -- Read before the members are: a renewal whose commit this snapshot does not see has not been answered at this time.
  at := clock_timestamp();
  if extract(epoch from at) * 1000 > (p->>'deadline')::float8 then
    raise exception using errcode = 'EI006', message = 'the fence has expired';
  end if;
  select jsonb_agg(m.id) into silent from cluster_member m where m.lease_until > at and not p->'acked' ? m.id;
  if silent is not null then
    raise exception using errcode = 'EI005', message = 'a member has not acknowledged', detail = silent::text;
  end if;
  return true;
end $$;
