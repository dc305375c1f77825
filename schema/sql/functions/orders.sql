-- Functions for the ledger and its audit, codes, free ids, sandbox payments and the clean-up of cancelled orders.

-- Books the ledger lines of a batch of turns. Creates one journal per order and reference.
create or replace function put_ledger(p jsonb) returns void language sql as $$
  with line as (
    select x.order_id, x.account, x.cents, x.reference
      from jsonb_to_recordset(p) as x(order_id uuid, account text, cents bigint, reference text)
  ), booked as (
    insert into journal (order_id, reference)
    select distinct order_id, reference from line order by 1, 2 returning id, order_id, reference
  )
  insert into ledger_line (journal_id, account, cents)
  select b.id, l.account, sum(l.cents) from line l join booked b using (order_id, reference)
   group by b.id, l.account having sum(l.cents) <> 0
$$;

-- Returns the difference between the ledger and the orders in cents. Any value except zero is an error. Reads all
-- orders with one statement, so it is only for tests and for manual use.
create or replace function ledger_audit() returns bigint language sql stable as $$
  with booked as (
    select j.order_id, sum(l.cents) filter (where l.account like 'funds:%') as funds, abs(sum(l.cents)) as off
      from journal j join ledger_line l on l.journal_id = j.id group by j.order_id
  ), told as (
    select e.id as order_id,
           (select coalesce(sum((x->>'cents')::bigint), 0) from jsonb_array_elements(e.state->'context'->'payments') x)
         - (select coalesce(sum((x->>'cents')::bigint), 0) from jsonb_array_elements(e.state->'context'->'refunds') x
             where x->>'status' = 'Refunded') as funds
      from entity e where e.kind = 'order' and e.state->'context' ? 'payments'
       and (e.state->'context'->'payments' <> '[]' or e.state->'context'->'refunds' <> '[]')
  )
  select coalesce(sum(coalesce(b.off, 0) + abs(coalesce(b.funds, 0) - coalesce(t.funds, 0))), 0)::bigint
    from booked b full join told t using (order_id)
$$;

-- Audits a part of the orders: `batch` orders whose ids are greater than `after`. It also reads everything that was
-- booked to ids in this range, even if no such orders exist. `until` is the `after` of the next part, or null after
-- the last part. The audit has parts because a statement over all orders could exceed the statement timeout.
create or replace function ledger_audit(after uuid, batch int, out cents bigint, out until uuid) language plpgsql stable as $$
declare
  low uuid := coalesce(after, '00000000-0000-0000-0000-000000000000');
  high uuid;
begin
  select e.id into until from entity e where e.kind = 'order' and e.id > low order by e.id offset batch - 1 limit 1;
  high := coalesce(until, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  with booked as (
    -- `offset 0` makes the planner find the lines of each booking by their index, and not read all lines.
    select j.order_id, sum(l.cents) filter (where l.account like 'funds:%') as funds, abs(sum(l.cents)) as off
      from journal j cross join lateral (select x.* from ledger_line x where x.journal_id = j.id offset 0) l
     where j.order_id > low and j.order_id <= high group by j.order_id
  ), told as (
    select e.id as order_id,
           (select coalesce(sum((x->>'cents')::bigint), 0) from jsonb_array_elements(e.state->'context'->'payments') x)
         - (select coalesce(sum((x->>'cents')::bigint), 0) from jsonb_array_elements(e.state->'context'->'refunds') x
             where x->>'status' = 'Refunded') as funds
      from entity e where e.kind = 'order' and e.id > low and e.id <= high
  )
  select coalesce(sum(coalesce(b.off, 0) + abs(coalesce(b.funds, 0) - coalesce(t.funds, 0))), 0)::bigint into cents
    from booked b full join told t using (order_id);
end $$;

-- Runs the next part of the audit if at least `pause` has passed since the previous part and no other process runs a
-- part. Returns the larger of two differences, that of the last complete audit and that of the current audit so far,
-- and the time since the last complete audit began.
create or replace function continue_audit(batch int, pause interval, out cents bigint, out age_seconds float) language plpgsql as $$
declare r audit_round; part record;
begin
  select * into r from audit_round where continued_at <= now() - pause for update skip locked;
  if found then
    select * into part from ledger_audit(r.after, batch);
    if r.after is null then r.begun_at := now(); end if;
    r.cents := r.cents + part.cents;
    if part.until is null then
      r.last_begun_at := r.begun_at; r.last_cents := r.cents; r.cents := 0;
    end if;
    update audit_round set (begun_at, after, cents, continued_at, last_begun_at, last_cents) =
      (r.begun_at, part.until, r.cents, now(), r.last_begun_at, r.last_cents);
  else
    select * into r from audit_round;
  end if;
  cents := greatest(r.cents, r.last_cents);
  age_seconds := extract(epoch from now() - r.last_begun_at);
end $$;

-- Lists unpaid orders that hold money which was not refunded, with the amount. A trigger of ledger_line keeps the table
-- (0024_lists.sql).
create or replace function money_held() returns table (order_id uuid, cents bigint) language sql stable as $$
  select h.order_id, h.cents from held_money h where h.cents > 0
$$;

-- Counts the uses of codes by an order. A negative count returns uses. The row lock on the code lets one order at a
-- time count, so the limits per code and per user are never exceeded. Raises EI003 if a limit is reached.
--
-- Uses of an organization's code are also charged to the organization's budget (`cents`: the discount). The charge is
-- stored in code_use. An order returns its uses of a code all at once, and gets back exactly this charge. A use without `cents` comes from a release that does
-- not know budgets, so it is refused. All codes are locked before the first budget, and both in the order of their ids, so
-- that two orders cannot deadlock.
create or replace function put_code_uses(p_order uuid, p jsonb) returns void language plpgsql as $$
declare u record; b record; per_user int; org uuid; charge bigint; orgs uuid[] := '{}'; charges bigint[] := '{}';
begin
  if p @? '$[*].activation' then perform put_activations(p_order, p); end if;
  for u in select x.code_id, x.user_id, sum(x.count)::int as count, sum(x.cents)::bigint as cents
             from jsonb_to_recordset(p) as x(code_id uuid, user_id uuid, count int, cents bigint)
            group by x.code_id, x.user_id order by x.code_id
  loop
    update code set uses = uses + u.count
     where id = u.code_id
       and (u.count <= 0 or (deleted_at is null and (max_uses is null or uses + u.count <= max_uses)))
    returning max_emojis_per_user, organization_id into per_user, org;
    if not found then
      raise exception using errcode = 'EI003', message = 'limit reached', detail = 'code_uses';
    end if;
    if u.count < 0 then
      select -c.cents into charge from code_use c where c.code_id = u.code_id and c.order_id = p_order;
      update code_use set count = count + u.count, cents = 0 where code_id = u.code_id and order_id = p_order;
    else
      charge := case when org is not null then u.cents else 0 end;
      if charge is null then
        raise exception using errcode = 'EI003', message = 'limit reached', detail = 'code_budget';
      end if;
      insert into code_use as c (code_id, order_id, user_id, count, cents)
      values (u.code_id, p_order, u.user_id, u.count, charge)
        on conflict (code_id, order_id) do update set count = c.count + excluded.count, cents = c.cents + excluded.cents;
      if (select sum(count) from code_use where code_id = u.code_id and user_id = u.user_id) > per_user then
        raise exception using errcode = 'EI003', message = 'limit reached', detail = 'code_uses_per_user';
      end if;
    end if;
    if org is not null and charge <> 0 then
      orgs := orgs || org;
      charges := charges || charge;
    end if;
  end loop;
  for b in select x.org, sum(x.cents)::bigint as cents from unnest(orgs, charges) as x(org, cents) group by x.org order by x.org
  loop
    update code_budget set used_cents = used_cents + b.cents
     where organization_id = b.org and (b.cents <= 0 or used_cents + b.cents <= granted_cents);
    if not found and b.cents > 0 then
      raise exception using errcode = 'EI003', message = 'limit reached', detail = 'code_budget';
    end if;
  end loop;
end $$;

-- Records the signed messages that activate a code. Raises EI003 if one was used before. The activation of a Ristretto255 key
-- contains no nonce: there is one per user and code. If the order of the earlier activation no longer uses the code, because it
-- was cancelled, the user can activate the code again.
create or replace function put_activations(p_order uuid, p jsonb) returns void language plpgsql as $$
declare given int; stored int;
begin
  select count(x.activation) into given from jsonb_to_recordset(p) as x(activation text);
  insert into code_activation as a (code_id, digest, user_id, order_id)
  select x.code_id, x.activation, x.user_id, p_order
    from jsonb_to_recordset(p) as x(code_id uuid, user_id uuid, activation text) where x.activation is not null
  on conflict (code_id, digest) do update set user_id = excluded.user_id, order_id = excluded.order_id, at = now()
    where a.digest like 'ristretto255:%'
      and not exists (select 1 from code_use u where u.code_id = a.code_id and u.order_id = a.order_id and u.count > 0);
  get diagnostics stored = row_count;
  if stored < given then
    raise exception using errcode = 'EI003', message = 'limit reached', detail = 'code_activation';
  end if;
end $$;

-- Lists a public key of a kind on a code. Returns 'exists' if the code lists the key already, with any kind, and 'too_many' if it has
-- p_most keys. A repeated request (p_run) returns 'added' again. The code is locked first, so that concurrent requests cannot
-- exceed the limit. (Databases of release 0.2 also have put_code_pubkey, which that release calls.)
create or replace function list_code_pubkey(p_code uuid, p_pubkey text, p_kind text, p_run uuid, p_most int) returns text language plpgsql as $$
declare k code_pubkey;
begin
  perform 1 from code where id = p_code for no key update;
  select * into k from code_pubkey where code_id = p_code and pubkey = p_pubkey;
  if found then return case when k.run = p_run then 'added' else 'exists' end; end if;
  if (select count(*) from code_pubkey where code_id = p_code) >= p_most then return 'too_many'; end if;
  insert into code_pubkey (code_id, pubkey, kind, run) values (p_code, p_pubkey, p_kind, p_run);
  return 'added';
end $$;

-- Counts free ids that users have used. Raises EI003 if a user's limit would be exceeded.
create or replace function put_free_ids(p jsonb) returns void language plpgsql as $$
declare f record;
begin
  for f in select x.user_id, x.count from jsonb_to_recordset(p) as x(user_id uuid, count int) order by x.user_id loop
    update app_user set free_used = free_used + f.count, updated_at = now()
     where id = f.user_id and free_used + f.count <= free_limit;
    if not found then
      raise exception using errcode = 'EI003', message = 'limit reached', detail = 'free_ids';
    end if;
  end loop;
end $$;

-- Creates payment intents of the sandbox provider for one order. Does nothing for intents that already exist.
create or replace function put_sandbox_intents(p_order uuid, p jsonb) returns void language plpgsql as $$
begin
  insert into sandbox_intent (id, session_id, order_id, method, cents, success_url, cancel_url)
  select x.id, x.session_id, p_order, x.method, x.cents, x.success_url, x.cancel_url
    from jsonb_to_recordset(p)
         as x(id text, session_id text, method text, cents bigint, success_url text, cancel_url text)
  on conflict (id) do nothing;
end $$;

-- Creates payment intents of the sandbox provider for a batch of turns. The sandbox needs no request to an external
-- provider, so the turn of a checkout creates its intent. This saves a statement, and a pending order always has an
-- intent.
create or replace function put_sandbox_intents(p jsonb) returns void language plpgsql as $$
begin
  insert into sandbox_intent (id, session_id, order_id, method, cents, success_url, cancel_url)
  select x.id, x.session_id, x.order_id, x.method, x.cents, x.success_url, x.cancel_url
    from jsonb_to_recordset(p) as x(id text, session_id text, order_id uuid, method text, cents bigint,
                                    success_url text, cancel_url text)
   order by x.id
  on conflict (id) do nothing;
end $$;

-- Continues the search for old cancelled orders with the next `batch` orders. Removes tracking data from orders that were
-- cancelled at least `keep_tracking` ago. `old` lists the orders that were cancelled at least `keep_order` ago without a
-- payment or refund, with their version and payment intent. `until` is null at the end of a round. A round begins at least
-- `pause` after the one before. Returns no row if it is too early, or if another process is running this function.
--
-- A user's newest order is never listed, because the id of the user's next cart is derived from it. The state changes
-- outside a turn, with a new version, so an actor with the previous version reads it again. `updated_at` does not change.
-- The subqueries with `offset 0` read the part by the primary key. Without them a plan could use an index by time and read
-- all orders.
create or replace function continue_order_cleanup(batch int, pause interval, keep_tracking interval, keep_order interval)
returns table (until uuid, old jsonb) language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  low uuid; high uuid;
begin
  select coalesce(c.after, '00000000-0000-0000-0000-000000000000') into low from order_cleanup c
   where c.after is not null or c.begun_at <= now() - pause for update skip locked;
  if not found then return; end if;
  select e.id into until from entity e where e.kind = 'order' and e.id > low order by e.id offset batch - 1 limit 1;
  high := coalesce(until, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  update order_cleanup c set after = until, begun_at = case when c.after is null then now() else c.begun_at end;
  update entity e set state = e.state #- '{context,tracking}', version = e.version + 1, turn = gen_random_uuid()
    from (select o.id from (select * from entity i where i.kind = 'order' and i.id > low and i.id <= high offset 0) o
           where o.status = 'Cancelled' and o.created_at < now() - keep_tracking and o.state->'context' ? 'tracking'
             and (o.state #>> '{context,cancelled,at}')::timestamptz < now() - keep_tracking
           order by o.id) t
   where e.kind = 'order' and e.id = t.id and e.status = 'Cancelled';
  select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'version', o.version, 'intent', o.state #> '{context,intent}')), '[]')
    into old
    from (select * from entity i where i.kind = 'order' and i.id > low and i.id <= high offset 0) o
   where o.status = 'Cancelled' and o.created_at < now() - keep_order
     and (o.state #>> '{context,cancelled,at}')::timestamptz < now() - keep_order
     and o.state #> '{context,payments}' = '[]' and o.state #> '{context,refunds}' = '[]'
     and coalesce(o.state #> '{context,replaced}', '[]') = '[]'
     and exists (select 1 from entity n where n.owner_id = o.owner_id and n.kind = 'order' and n.created_at > o.created_at);
  return next;
end $$;

-- Deletes cancelled orders whose version is still the given one, with their events and their returned code uses. A row
-- in purged_order remains of each. Their channels are then unused, see prune_channels. Returns the number of deleted orders.
create or replace function purge_orders(p jsonb) returns int language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare purged int;
begin
  with gone as (
    delete from entity e using (select * from jsonb_to_recordset(p) as x(id uuid, version int) order by x.id offset 0) w
     where e.kind = 'order' and e.id = w.id and e.version = w.version and e.status = 'Cancelled'
    returning e.id, e.owner_id, e.created_at, (e.state #>> '{context,cancelled,at}')::timestamptz as cancelled_at,
              e.state #> '{context,codes}' as codes
  ), kept as (
    insert into purged_order (id, user_id, created_at, cancelled_at)
    select g.id, g.owner_id, g.created_at, g.cancelled_at from gone g
    on conflict (id) do update set purged_at = now()
  ), events as (
    delete from event v using gone g where v.channel = 'order:' || g.id
  ), uses as (
    delete from code_use u using gone g, jsonb_array_elements(g.codes) c
     where u.code_id = (c->>'codeId')::uuid and u.order_id = g.id and u.count = 0
  )
  select count(*) into purged from gone;
  return purged;
end $$;
