-- All orders, the newest first, without a look at every one of them.
create index entity_listed on entity (kind, created_at, id);
