-- Public keys and wallets.

-- A key that can own ids. The private half of a custodial key is stored encrypted; of other keys it never reaches the service.
create table pubkey (
  pubkey          text        primary key,
  user_id         uuid        not null references app_user on delete cascade,
  organization_id uuid        references organization,
  sealed_key      text,
  created_at      timestamptz not null default now()
);
create index pubkey_user on pubkey (user_id, created_at);
create index pubkey_organization on pubkey (organization_id) where organization_id is not null;
-- Which master secrets encrypt keys. There are few, and the index finds them without reading every key.
create index pubkey_sealed_by on pubkey (split_part(sealed_key, '.', 2)) where sealed_key is not null;

-- An Ethereum address whose holder signed for this user. One address may be linked to several users.
create table wallet (
  user_id     uuid        not null references app_user on delete cascade,
  eth_address text        not null,
  source      text        not null,
  created_at  timestamptz not null default now(),
  primary key (user_id, eth_address)
);
