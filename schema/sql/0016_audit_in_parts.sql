-- An audit of all orders at once takes longer with each of them, and one day longer than a statement may. So it goes through
-- them in parts: `batch` orders after the given one, and all that is booked to ids in between, whether or not they are orders.
-- `until` is where the next part begins; null: this was the last. ledger_audit stays as the whole of it, for tests and people.
create function ledger_audit(after uuid, batch int, out cents bigint, out until uuid) language plpgsql stable as $$
declare
  low uuid := coalesce(after, '00000000-0000-0000-0000-000000000000');
  high uuid;
begin
  select e.id into until from entity e where e.kind = 'order' and e.id > low order by e.id offset batch - 1 limit 1;
  high := coalesce(until, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  with booked as (
    select j.order_id, sum(l.cents) filter (where l.account like 'funds:%') as funds, abs(sum(l.cents)) as off
      from journal j join ledger_line l on l.journal_id = j.id
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

-- Where the audit stands. One for all processes, so that it gets through however often they are restarted.
create table audit_round (
  only_one      boolean     primary key default true check (only_one),
  begun_at      timestamptz,                            -- of the round under way
  after         uuid,                                   -- its next part begins here; null: with a new round
  cents         bigint      not null default 0,         -- found by it so far
  continued_at  timestamptz not null default '-infinity',
  last_begun_at timestamptz,                            -- of the last round that went through; null: none yet
  last_cents    bigint      not null default 0
);
insert into audit_round default values;

-- The next part of the audit, if the one before it is old enough and nobody else is at it; what is known in any case.
create function continue_audit(batch int, pause interval, out cents bigint, out age_seconds float) language plpgsql as $$
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
