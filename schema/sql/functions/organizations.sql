-- Functions for organizations.

create or replace function display_organization(o organization) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'id', o.id, 'name', o.name, 'partner_path', o.partner_path, 'return_link', o.return_link,
    'client_fee_basis_points', o.client_fee_basis_points, 'company_fee_basis_points', o.company_fee_basis_points,
    'created_at', wire_time(o.created_at), 'updated_at', wire_time(o.updated_at)))
$$;

create or replace function display_branding(o organization) returns jsonb language sql stable as $$
  select jsonb_build_object('currencies', '[]'::jsonb, 'requires_email', false) || jsonb_strip_nulls(o.branding)
      || jsonb_build_object('organization_id', o.id, 'name', o.name, 'return_link', coalesce(o.return_link, ''),
                            'created_at', wire_time(o.created_at), 'updated_at', wire_time(o.updated_at))
$$;

create or replace function display_member(m organization_member, u app_user) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'user_id', m.user_id, 'role', m.role, 'email', u.email, 'first_name', u.first_name, 'last_name', u.last_name,
    'created_at', wire_time(m.created_at)))
$$;

-- Adds, changes or removes a member, see set_member. `view` is the member. It is null if the member was removed.
create or replace function put_member(org uuid, who uuid, new_role text, insists boolean, out outcome text, out view jsonb)
language plpgsql as $$
begin
  outcome := set_member(org, who, new_role, insists);
  if outcome = 'done' then
    view := (select display_member(m, u) from organization_member m join app_user u on u.id = m.user_id
              where m.organization_id = org and m.user_id = who);
  end if;
end $$;

-- Sets the role of a member, or removes the member if new_role is null. Refuses to remove or demote the last owner,
-- unless `insists` is true. The lock on the user makes the function wait for a concurrent deletion of the account,
-- because a deleted account must not become a member.
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

-- Deletes an organization, and ends the grants of its OAuth clients. Returns the users whose permissions changed.
create or replace function remove_organization(p_id uuid) returns table (view jsonb, user_ids text[]) language sql as $$
  with withdrawn as (
    update code set organization_id = null where organization_id = p_id and deleted_at is not null
  )
  delete from organization o
   using (select end_grants(array(select client_id from oauth_client where organization_id = p_id))
              || array(select user_id::text from organization_member where organization_id = p_id) as user_ids) ended
   where o.id = p_id returning display_organization(o), ended.user_ids
$$;
