-- As before; but a change of address that is sent again, after an answer that was lost, finds its own link there: it has been
-- done then, and mailed.
create or replace function update_account(p jsonb) returns jsonb language plpgsql as $$
declare is_new boolean := true;
begin
  update app_user set updated_at = now(),
         first_name = case when p ? 'first_name' then nullif(p->>'first_name', '') else first_name end,
         last_name = case when p ? 'last_name' then nullif(p->>'last_name', '') else last_name end,
         email = coalesce(p->>'email', email),
         email_verified_at = case when p ? 'email' then null else email_verified_at end,
         password_hash = coalesce(p->>'new_hash', password_hash)
   where id = (p->>'id')::uuid and (not p ? 'old_hash' or password_hash is not distinct from p->>'old_hash');
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
