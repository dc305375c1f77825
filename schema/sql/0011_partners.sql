-- A person sent by a partner's site. The state is encrypted because it contains a refresh token.
create table partner_visit (
  token_hash      text        primary key,
  organization_id uuid        not null references organization on delete cascade,
  flow            text        not null check (flow in ('get', 'connect', 'manage')),
  user_id         uuid        references app_user on delete cascade,
  session_id      uuid,                               -- the session that the partner's token belongs to
  sealed_state    text        not null,
  order_id        uuid,                               -- bought in this visit; its ids get the visit's addresses
  written_at      timestamptz,                        -- when they were written
  created_at      timestamptz not null default now(),
  expires_at      timestamptz not null
);
create index partner_visit_expires on partner_visit (expires_at);
create index partner_visit_unwritten on partner_visit (order_id) where order_id is not null and written_at is null;
