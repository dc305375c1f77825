-- The step that confirmed an authenticator app, who added a key, and sessions that are Stale.

-- The TOTP step that confirmed the setup, until it is used a second time. Clients confirm and then log in with the same code.
alter table two_factor add column enrolment_step bigint;

-- The request that added a key. A repeated request is answered like the first one; another request gets an error.
alter table pubkey add column added_by uuid;

-- Sessions whose second factor was verified have a deadline at the end of the grace period, when they become Stale. Existing
-- sessions get a deadline now; the service then stores the right one, because the grace period is a setting.
update entity e set due_at = now()
  from two_factor t
 where t.confirmed_at is not null and e.owner_id = t.user_id and e.kind = 'session' and e.status = 'Verified'
   and e.state #>> '{context,verifiedAt}' is not null and e.due_at > now();

-- Sessions that began before their user enabled two-factor authentication already get 424, so they are Stale. The release before
-- reads them as Verified.
update entity e set status = 'Stale', state = jsonb_set(e.state, '{context,stale}', '{"verifiedAt": null}'),
       version = e.version + 1, turn = gen_random_uuid()
  from two_factor t
 where t.confirmed_at is not null and e.owner_id = t.user_id and e.kind = 'session' and e.status = 'Verified'
   and e.state #>> '{context,verifiedAt}' is null;
