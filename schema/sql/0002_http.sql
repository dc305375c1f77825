-- Rate limits and idempotency keys.

-- Requests counted across processes. Unlogged: a crash loses the counts, which only allows a few more requests.
create unlogged table rate_window (
  key       text        primary key,
  used      int         not null,
  resets_at timestamptz not null
) with (fillfactor = 70);
create index rate_window_resets on rate_window (resets_at);

-- One request per key and caller. The response is encrypted because it may contain tokens.
create table idempotency_key (
  caller       text        not null,
  key          text        not null,
  request_hash text        not null,
  run          uuid        not null,
  leased_until timestamptz,                  -- set while the first request runs; after a crash the key is free once it passes
  status       int,
  answer       text,
  created_at   timestamptz not null default now(),
  primary key (caller, key)
) with (fillfactor = 80);
create index idempotency_key_created on idempotency_key (created_at);
