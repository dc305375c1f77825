-- Password reset links, wrong two-factor codes per account, the last use of sessions.

-- A link of purpose 'reset' sets a new password. `not valid` skips the check of stored rows, which the earlier, narrower check has
-- passed. So the table is locked only for a moment.
alter table magic_link drop constraint magic_link_purpose_check;
alter table magic_link add constraint magic_link_purpose_check
  check (purpose in ('login', 'welcome', 'confirm', 'reset')) not valid;

-- The wrong two-factor codes of an account, in all its logins. Not an unlogged table: a crash must not end a lock.
create table two_factor_failure (
  user_id      uuid        primary key references app_user on delete cascade,
  wrong_codes  int         not null default 0,
  last_attempt uuid,                                  -- the attempt counted last; a repeated statement counts it once
  locked_until timestamptz                            -- until then no code of the account is checked
);

-- When a session was last used, written at most once a minute. The row of the session itself is too large for that.
create table session_use (
  session_id uuid        primary key,
  used_at    timestamptz not null
) with (fillfactor = 70);
create index session_use_used on session_use (used_at);
