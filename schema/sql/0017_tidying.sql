-- What is over is found by an index and not by a look at everything there is.
create index oauth_grant_over on oauth_grant (least(expires_at, revoked_at));
