-- Turns: entities and what a turn writes beside them (claims, events, mail). functions/turns.sql commits them.

-- One row per order, transfer, lootbox, session and other actor. Fillfactor: every turn updates the row in place. Toast target:
-- orders are just above the size from which Postgres tries to compress a row, which it would do at every turn.
create table entity (
  kind       text        not null,
  id         uuid        not null,
  version    int         not null,
  turn       uuid        not null,          -- the last turn applied; a retry after a lost response is recognised by it
  status     text        not null,
  state      jsonb       not null,
  owner_id   uuid,
  peer_id    uuid,                          -- the other party, if there is one
  subject    text,                          -- what the entity is about: a canonical id, a type
  due_at     timestamptz,                   -- when the sweep must wake it
  leased_until timestamptz,                 -- a sweep is working on it
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (kind, id)
) with (fillfactor = 80, toast_tuple_target = 8160);
create index entity_due on entity (due_at) where due_at is not null;
create index session_over on entity (updated_at) where kind = 'session' and status in ('Revoked', 'Expired');
-- A user has one cart: at most one open order.
create unique index entity_open_order on entity (owner_id)
  where kind = 'order' and status in ('Draft', 'PendingPayment');
-- No index but the primary key begins with the kind. Plans are cached for as long as a connection lives, and the first ones are
-- made while the table is empty; with a second index by kind such a plan could search one entity among all of its kind.
create index entity_owner on entity (owner_id, kind, created_at desc);
create index entity_peer on entity (peer_id, kind, created_at desc) where peer_id is not null;
create index entity_subject on entity (subject, kind) where subject is not null;
-- Lists count, filter and sort with these two indexes and read only the entities of the page. Lootboxes can be listed by every
-- user and have an index of their own, which costs other turns nothing.
create index lootbox_listed on entity (created_at, id) include (status, owner_id, updated_at) where kind = 'lootbox';
create index entity_listed on entity (created_at, kind, id) include (status, updated_at);

-- Who holds an id. The primary key makes ids scarce: at most one claim per canonical id.
create table claim (
  canonical  text        primary key,
  kind       text        not null check (kind in ('owned', 'order', 'lootbox', 'transfer')),
  holder     uuid        not null,          -- the order, lootbox or transfer; the owner if the id is owned
  owner_id   uuid,                          -- set while the id is owned, also during its transfer
  claimed_at timestamptz not null default now(),
  check (kind not in ('owned', 'transfer') or owner_id is not null)
);
create index claim_owner on claim (owner_id) where owner_id is not null;
create index claim_holder on claim (holder);

-- One row: the epoch of the database. A channel without a row is at (epoch, 0), and gets this epoch with its first event. A
-- client that subscribed before then receives every event, and subscribing creates no rows.
create table live_epoch (
  only_row boolean primary key default true check (only_row),
  epoch    uuid    not null default gen_random_uuid()
);
insert into live_epoch default values;

-- Here and not in functions/ because the default below needs it.
create function live_epoch() returns uuid language sql stable as $$ select epoch from live_epoch $$;

-- The position (epoch, offset) of each channel of the live socket. Every event updates its channel's row in place.
create table channel (
  name     text   primary key,
  epoch    uuid   not null default live_epoch(),
  "offset" bigint not null default 0
) with (fillfactor = 70);

create table event (
  channel  text        not null,
  "offset" bigint      not null,
  type     text        not null,
  data     jsonb       not null,
  at       timestamptz not null default now(),
  primary key (channel, "offset")
);
create index event_at on event (at);

-- Mail and SMS waiting to be delivered. The payload is encrypted because it contains codes and links.
create table outbox (
  id         bigint generated always as identity primary key,
  recipient  text        not null,
  kind       text        not null,
  payload    text        not null,
  at         timestamptz not null default now(),
  due_at     timestamptz not null default now(),
  tries      int         not null default 0,
  sent_at    timestamptz
);
create index outbox_due on outbox (due_at) where sent_at is null;
create index outbox_recipient on outbox (recipient, id desc);
