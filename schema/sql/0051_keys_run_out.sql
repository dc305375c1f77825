-- As before; and a key that has run out makes room for a new one where there is no more: nothing else would take it away.
create or replace function put_api_key(p_id text, p_user uuid, p_name text, p_hash text, p_scopes text[], p_expires timestamptz, p_most int)
returns setof api_key language plpgsql as $$
begin
  if hold_user(p_user) and not exists (select 1 from api_key where id = p_id) then
    delete from api_key where id in (
      select id from api_key where user_id = p_user and expires_at <= now() order by expires_at, id
       limit greatest((select count(*) from api_key where user_id = p_user) - p_most + 1, 0));
    insert into api_key (id, user_id, name, secret_hash, scopes, expires_at, made_as)
    select p_id, p_user, p_name, p_hash, p_scopes, p_expires, u.role from app_user u
     where u.id = p_user
       and coalesce(p_expires > now(), true) and (select count(*) from api_key where user_id = p_user) < p_most
    on conflict (id) do nothing;
  end if;
  return query select * from api_key where id = p_id;
end $$;
