-- What an operator sells as a lootbox. Lootboxes are entities.
create table lootbox_type (
  id          uuid        primary key default gen_random_uuid(),
  name        text        not null,
  description text        not null,
  config      jsonb       not null,
  created_at  timestamptz not null default now()
);
