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
