-- The security log of users: logins, failed logins and changes of credentials. functions/security_log.sql writes it.

-- `count` and `last_at`: when an event happens very often, further ones are counted in the newest row of the event, so that an
-- attacker cannot fill the table.
create table security_log (
  id         uuid        primary key,
  user_id    uuid        not null references app_user on delete cascade,
  event      text        not null,
  at         timestamptz not null default clock_timestamp(),
  last_at    timestamptz not null default clock_timestamp(),
  count      int         not null default 1,
  actor_id   uuid,                          -- the user who caused the event; null if the caller was not logged in
  via        text        not null,          -- how the actor was authenticated; see schema/accounts/security-event.ts
  address    text,
  user_agent text,
  request_id text,
  details    jsonb       not null default '{}'
);
create index security_log_user on security_log (user_id, at desc, id desc);
create index security_log_event on security_log (user_id, event, at desc);
create index security_log_at on security_log (at);
