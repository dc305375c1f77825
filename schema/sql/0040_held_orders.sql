-- Orders that were not paid and have money that was not given back, and how much. Few ever do: they have an index.
create index ledger_held on ledger_line (journal_id) include (cents) where account = 'held';
create function money_held() returns table (order_id uuid, cents bigint) language sql stable as $$
  select j.order_id, -sum(l.cents)::bigint from ledger_line l join journal j on j.id = l.journal_id
   where l.account = 'held' group by j.order_id having sum(l.cents) < 0
$$;
