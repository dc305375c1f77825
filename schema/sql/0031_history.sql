-- The history of emoji ids, and the notices to their owners. functions/history.sql writes them.

-- A record that was added or removed. Data is null if the change has too much of it, see shorten_records.
create type changed_record as (tag int, hash text, data text);

-- The changes of each registered id: one row per version. A row is never deleted while the id is registered.
create table emoji_id_change (
  canonical       text        not null,
  version         bigint      not null,
  kind            text        not null,     -- see schema/directory/history.ts
  at              timestamptz not null default now(),
  owner_id        uuid,                     -- the owner after the change; null after the owner's personal data was erased
  former_owner_id uuid,                     -- the owner before, if the change gave the id to another owner
  -- What was changed, for the owner. Arrays and not jsonb: every edit writes them, and building jsonb costs several times as much.
  added           changed_record[],
  removed         changed_record[],
  pubkey_before   text,
  pubkey_after    text,
  store_key       text,
  signed          boolean,                  -- whether the owner signed the records of this version
  primary key (canonical, version)
);
-- With the ids that a user owns now, it finds all ids that the user has owned, for the erasure of personal data.
create index emoji_id_change_former_owner on emoji_id_change (former_owner_id) where former_owner_id is not null;

-- One row: changes before this time were not recorded.
create table history_start (
  only_row boolean     primary key default true check (only_row),
  at       timestamptz not null default now()
);
insert into history_start default values;

-- A queue: changes whose owners have not received a live event yet.
create table id_notice (
  seq       bigint      generated always as identity primary key,
  user_id   uuid        not null,
  canonical text        not null,
  version   bigint      not null,
  kind      text        not null,
  at        timestamptz not null default now(),
  is_mailed boolean     not null            -- whether the change is also reported by mail
);

-- A queue: changes that the next mail to a user reports.
create table id_mail (
  user_id   uuid        not null references app_user on delete cascade,
  seq       bigint      not null,           -- of the notice
  canonical text        not null,
  version   bigint      not null,
  kind      text        not null,
  at        timestamptz not null,
  primary key (user_id, seq)
);

-- When a user got the last mail about changed ids, and when the next one is due; null if no change waits for it.
create table id_mail_turn (
  user_id uuid        primary key references app_user on delete cascade,
  sent_at timestamptz,
  due_at  timestamptz
);
create index id_mail_turn_due on id_mail_turn (due_at) where due_at is not null;
create index id_mail_turn_sent on id_mail_turn (sent_at) where due_at is null;
