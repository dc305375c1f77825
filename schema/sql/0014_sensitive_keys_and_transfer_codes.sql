-- API keys that may do sensitive operations, and the wrong codes that were entered for transfers.

-- Keys that exist now keep sensitive operations if their owner has no second factor. The default `true` is stored once for all
-- existing rows, so a large table is not rewritten. New keys have `false` unless they are created for sensitive operations.
alter table api_key add column sensitive boolean not null default true;
alter table api_key alter column sensitive set default false;
alter table api_key add column last_used_at timestamptz;   -- written about once a minute while the key is used
update api_key k set sensitive = false
 where exists (select 1 from two_factor t where t.user_id = k.user_id and t.confirmed_at is not null);
-- Administrators had this scope by their role, so their keys list it although no code was entered for it.
update api_key set scopes = array_remove(scopes, 'adminUser:bypass2fa') where 'adminUser:bypass2fa' = any(scopes);

-- One row per entered code of a transfer that was not correct. A row is added before the code is compared and removed if the code
-- was correct, so concurrent requests cannot compare more codes than allowed.
create table wrong_transfer_code (
  id      uuid        primary key,            -- the attempt; a repeated statement counts once
  user_id uuid        not null references app_user on delete cascade,
  eid     text        not null,
  at      timestamptz not null default now()
);
create index wrong_transfer_code_user on wrong_transfer_code (user_id, at);
create index wrong_transfer_code_at on wrong_transfer_code (at);
