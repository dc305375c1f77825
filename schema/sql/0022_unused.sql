-- What only versions before this one called: turns are written many to a statement, channels are trimmed by name, and the
-- first state of an order is drawn by the service.
drop function commit_turn(jsonb);
drop function put_ledger(uuid, jsonb);
drop function trim_events(interval, int, int);
drop function order_facts(entity);
