-- The account goes on without an address it has not proven: under the one it proved before, if that is still free.
create function give_back_address(u app_user) returns void language sql as $$
  update app_user set updated_at = now(), email = kept.email,
         email_verified_at = case when kept.email is not null then u.proven_at end
    from (select (select u.proven_email where not exists (select 1 from app_user o where o.email = u.proven_email)) as email) kept
   where id = u.id
$$;

-- As before; and an account that is opened by an alternate_id and a password was there before its address: who reads the mail
-- of a mistyped one gets neither the account nor what it holds.
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
    if u.password_hash is not null and (u.proven_at is not null or u.alternate_id is not null) then
      if u.proven_email is null and u.alternate_id is null then
        update magic_link set used_at = null, used_by = null where token_hash = l.token_hash;
        return jsonb_build_object('user_id', u.id, 'needs_password', true, 'released', true, 'ended', null, 'api_keys', '[]'::jsonb);
      end if;
      perform give_back_address(u);
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
