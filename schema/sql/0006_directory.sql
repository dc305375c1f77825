-- Emoji ids, their records and their views.

-- A registered id. Whether an id may be taken is decided by its claim and not by this table.
create table emoji_id (
  canonical     text        primary key,
  owner_id      uuid        not null references app_user,
  pubkey        text,
  token_id      bigint      generated always as identity unique,
  generation    int         not null default 0,
  source        text        not null,                 -- order:…, lootbox:…, admin, demo
  version       bigint      not null default 1,       -- rises with every change of the id
  minted_at     timestamptz,
  mint_until    timestamptz,                          -- a mint permission cannot be revoked: the id stays with its owner until then
  blocked_until timestamptz,
  merkle_root   text,                                 -- over the records, signed by the last editor; null after an unsigned change
  signature     text,
  registered_at timestamptz not null default now(),
  updated_at    timestamptz not null default now()
);
create index emoji_id_owner on emoji_id (owner_id, registered_at);
create index emoji_id_pubkey on emoji_id (pubkey) where pubkey is not null;
create index emoji_id_purchased on emoji_id (registered_at desc) where source like 'order:%';

create table record (
  canonical   text        not null references emoji_id on delete cascade,
  hash        text        not null,
  tag         int         not null check (tag between 0 and 65535),
  data        text        not null,
  seq         bigint      generated always as identity,
  single_key  text,                                   -- a new record with the same key replaces this one
  linked_keys text[],                                 -- the store keys that name this record; it is deleted with the last of them
  created_at  timestamptz not null default now(),
  primary key (canonical, hash)
);

-- What the owner stores under a key. Text and not jsonb, because jsonb would change the order of the members.
create table json_store (
  canonical  text        not null references emoji_id on delete cascade,
  key        text        not null,
  data       text        not null,
  locked_future_writes_at timestamptz,                -- from then on only an administrator can write it
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (canonical, key)
);

-- Lookups per day, written in batches. Days that the statistics no longer need are deleted.
create table emoji_id_view (
  canonical text   not null,
  day       date   not null,
  views     bigint not null,
  primary key (canonical, day)
) with (fillfactor = 80);
create index emoji_id_view_day on emoji_id_view using brin (day);

-- The newest batch of views of each process, so that a batch sent again after a lost response counts once.
create table view_batch (
  process uuid        primary key,
  number  bigint      not null,
  at      timestamptz not null default now()
);
