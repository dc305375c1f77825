-- What its user was when a key was made. A key may list what its user may do inside an organization only: made by somebody who
-- becomes an administrator later, it must not be able to do that everywhere. Of the keys there are, what their user is now.
alter table api_key add column made_as text;
update api_key k set made_as = u.role from app_user u where u.id = k.user_id;

create or replace function put_api_key(p_id text, p_user uuid, p_name text, p_hash text, p_scopes text[], p_expires timestamptz, p_most int)
returns setof api_key language plpgsql as $$
begin
  if hold_user(p_user) then
    insert into api_key (id, user_id, name, secret_hash, scopes, expires_at, made_as)
    select p_id, p_user, p_name, p_hash, p_scopes, p_expires, u.role from app_user u
     where u.id = p_user
       and coalesce(p_expires > now(), true) and (select count(*) from api_key where user_id = p_user) < p_most
    on conflict (id) do nothing;
  end if;
  return query select * from api_key where id = p_id;
end $$;
