-- The step that confirmed an authenticator app, who added a key, and sessions that are Stale.

-- The TOTP step that confirmed the setup, until it is used a second time. Clients confirm and then log in with the same code.
alter table two_factor add column enrolment_step bigint;

-- The request that added a key. A repeated request is answered like the first one; another request gets an error.
alter table pubkey add column added_by uuid;
