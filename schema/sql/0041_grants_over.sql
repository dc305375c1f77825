-- Whoever deletes a grant is to find the code it came from by an index: without one every code was looked at, for each grant.
create index authorization_code_grant on authorization_code (grant_id) where grant_id is not null;

-- What is over is found by an index and not by a look at everything there is.
create index sms_code_expires on sms_code (expires_at);
