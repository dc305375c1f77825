-- As before; but an account that is deleted meanwhile is waited for, and comes out no member.
create or replace function set_member(org uuid, who uuid, new_role text, insists boolean) returns text language plpgsql as $$
begin
  perform 1 from organization where id = org for update;
  if not found then return 'no_organization'; end if;
  if new_role is not null then
    perform 1 from app_user where id = who and deleted_at is null for key share;
    if not found then return 'no_user'; end if;
  end if;
  if not insists and new_role is distinct from 'OrgOwner'
     and exists (select 1 from organization_member where organization_id = org and user_id = who and role = 'OrgOwner')
     and not exists (select 1 from organization_member where organization_id = org and user_id <> who and role = 'OrgOwner') then
    return 'last_owner';
  end if;
  if new_role is null then
    delete from organization_member where organization_id = org and user_id = who;
    return case when found then 'done' else 'no_member' end;
  end if;
  insert into organization_member (organization_id, user_id, role) values (org, who, new_role)
    on conflict (organization_id, user_id) do update set role = excluded.role;
  return 'done';
end $$;

-- As before; but an account that is deleted meanwhile stays nameless, and keeps no address from whoever has it.
create or replace function update_account(p jsonb) returns jsonb language plpgsql as $$
declare is_new boolean := true;
begin
  update app_user set updated_at = now(),
         first_name = case when p ? 'first_name' then nullif(p->>'first_name', '') else first_name end,
         last_name = case when p ? 'last_name' then nullif(p->>'last_name', '') else last_name end,
         email = coalesce(p->>'email', email),
         email_verified_at = case when p ? 'email' then null else email_verified_at end,
         password_hash = coalesce(p->>'new_hash', password_hash)
   where id = (p->>'id')::uuid and deleted_at is null
     and (not p ? 'old_hash' or password_hash is not distinct from p->>'old_hash');
  if not found then
    -- The new hash is in place already: this is the same change, sent again after a lost answer.
    if not exists (select 1 from app_user where id = (p->>'id')::uuid and password_hash = p->>'new_hash') then return null; end if;
    return end_sessions((p->>'id')::uuid, 'password_changed');
  end if;
  if p ? 'link' then
    insert into magic_link (token_hash, user_id, email, purpose, expires_at)
    values (p->'link'->>'token_hash', (p->>'id')::uuid, p->>'email', p->'link'->>'purpose',
            now() + make_interval(secs => (p->'link'->>'seconds')::int))
    on conflict (token_hash) do nothing;
    is_new := found;
  end if;
  if p ? 'mail' and is_new then perform put_mail(p->'mail'); end if;
  return case when p ? 'new_hash' then end_sessions((p->>'id')::uuid, 'password_changed') else '{}' end;
end $$;

-- What deleted accounts came out with before.
delete from organization_member m using app_user u where u.id = m.user_id and u.deleted_at is not null;
delete from user_feature f using app_user u where u.id = f.user_id and u.deleted_at is not null;
update app_user set email = null, first_name = null, last_name = null, password_hash = null, email_verified_at = null
 where deleted_at is not null and (email is not null or first_name is not null or last_name is not null or password_hash is not null);
