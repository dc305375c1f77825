-- Prices and interests.

-- One row, so that prices change together.
create table price_parameters (
  sole       boolean     primary key default true check (sole),
  parameters jsonb       not null,
  version    int         not null default 1,
  updated_at timestamptz not null default now()
);

-- A user who wants to hear when an id becomes free.
create table user_interest (
  id          uuid        primary key default gen_random_uuid(),
  user_id     uuid        not null references app_user on delete cascade,
  canonical   text        not null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  unique (user_id, canonical)
);
create index user_interest_canonical on user_interest (canonical, created_at, id);

-- An id that became free and whose interested users are not all notified yet. A worker holds a row by its lease.
create table freed_id (
  canonical    text        primary key,
  freed_at     timestamptz not null default now(),
  first_told   boolean     not null default false,    -- the first users are notified and have a head start
  due_at       timestamptz not null default now(),
  lease        uuid,
  leased_until timestamptz
);
create index freed_id_due on freed_id (due_at);

-- When a user was last notified about an id, so that an id that is freed often does not cause many mails.
create table interest_notice (
  user_id   uuid        not null references app_user on delete cascade,
  canonical text        not null,
  told_at   timestamptz not null default now(),
  primary key (user_id, canonical)
);
