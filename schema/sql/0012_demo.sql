-- Parts of the demo data that this database already has.
create table demo_part (
  name text        primary key,
  at   timestamptz not null default now()
);

-- What the demo data created, so that a production start can look for it and `cli demo remove` can end it. An item is noted
-- before it is created: an item whose target does not exist means nothing.
create table demo_item (
  kind        text        not null check (kind in ('user', 'client', 'code', 'lootbox', 'organization', 'id')),
  target      text        not null,             -- the id of the row, the client_id or the canonical form
  name        text        not null,             -- what the seed calls it: an email, a code, a partner path
  secret_hash text,                             -- users and clients: the hash that the demo stored last
  secret_from text,                             -- 'published', or the id of the master secret it was derived from
  at          timestamptz not null default now(),
  primary key (kind, target)
);
