-- GET /account/applications lists the applications that a user gave access to.
create index oauth_grant_of_user on oauth_grant (user_id, client_id) where revoked_at is null;
