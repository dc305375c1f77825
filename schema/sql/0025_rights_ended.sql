-- Takes back what was granted to applications that are about to go, and names the users. The applications are locked first:
-- a code that becomes a grant at the same moment is either seen here or finds no application any more.
create function end_grants(p_clients text[]) returns text[] language plpgsql as $$
declare user_ids text[];
begin
  perform 1 from oauth_client where client_id = any(p_clients) order by client_id for update;
  with ended as (
    update oauth_grant set revoked_at = now() where client_id = any(p_clients) and revoked_at is null returning user_id
  ) select coalesce(array_agg(distinct user_id::text), '{}') into user_ids from ended;
  return user_ids;
end $$;
create index oauth_grant_client on oauth_grant (client_id);
