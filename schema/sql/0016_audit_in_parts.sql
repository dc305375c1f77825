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
