-- Who has bought something had proven an address, if it was before that was noted: whoever reads the mail of one they moved to
-- since has shown less than that.
update app_user u set proven_at = u.created_at
 where u.proven_at is null and u.email_verified_at is null and u.email is not null and u.alternate_id is null
   and u.password_hash is not null and u.deleted_at is null
   and exists (select 1 from entity e where e.kind = 'order' and e.owner_id = u.id and e.status = 'Paid');

-- As before; but of an account that left its proven address before 0030 nobody knows which that was, so the new one cannot be
-- given back for it: the account would be left with none. Its link is not used up then, and wants the password. Told as
-- released too, which is what processes of the version before understand.
create or replace function consume_magic_link(p_hashes text[], p_attempt uuid, p_shown text[]) returns jsonb language plpgsql as $$
declare l magic_link; u app_user; over jsonb; keys text[];
begin
  update magic_link m set used_at = now(), used_by = p_attempt
    from app_user x
   where m.token_hash = any(p_hashes) and (m.used_at is null or m.used_by = p_attempt) and m.expires_at > now()
     and x.id = m.user_id and x.email = m.email and x.deactivated_at is null and x.deleted_at is null
     and (m.purpose = 'confirm' or x.password_hash is null)
  returning m.* into l;
  if not found then return null; end if;
  select * into u from app_user where id = l.user_id for update;
  if u.email_verified_at is null and u.id::text <> all(p_shown) then
    if u.proven_at is not null and u.password_hash is not null then
      if u.proven_email is null then
        update magic_link set used_at = null, used_by = null where token_hash = l.token_hash;
        return jsonb_build_object('user_id', u.id, 'needs_password', true, 'released', true, 'ended', null, 'api_keys', '[]'::jsonb);
      end if;
      update app_user set updated_at = now(),
             email = case when exists (select 1 from app_user o where o.email = u.proven_email) then null else u.proven_email end,
             email_verified_at = case when exists (select 1 from app_user o where o.email = u.proven_email) then null else u.proven_at end
       where id = u.id;
      return jsonb_build_object('user_id', u.id, 'released', true, 'ended', null, 'api_keys', '[]'::jsonb);
    end if;
    keys := end_unproven(u);
    update app_user set password_hash = null where id = u.id;
    over := end_sessions(u.id, 'claimed');
  end if;
  update app_user set email_verified_at = coalesce(email_verified_at, now()), invited_at = null, updated_at = now()
   where id = u.id;
  return jsonb_build_object('user_id', u.id, 'ended', over, 'api_keys', coalesce(to_jsonb(keys), '[]'));
end $$;
