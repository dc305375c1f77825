-- All orders, the newest first, without a look at every one of them. Not by kind first: 0010 says why.
create index entity_listed on entity (created_at, kind, id);
