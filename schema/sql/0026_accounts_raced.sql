-- As the one of four parameters, which processes of the version before still call; but only for the secret whose code was
-- checked: a set-up may be begun anew, with another secret, between that and this.
create function confirm_two_factor(p_user uuid, p_attempt uuid, p_step bigint, p_sealed_secret text, p_sms text[])
returns text language plpgsql as $$
declare replaced boolean;
begin
  if p_step is not null then
    select sealed_secret is distinct from p_sealed_secret into replaced from two_factor
     where user_id = p_user and provider = 'AuthenticatorApp' for update;
    if replaced then return null; end if;
  end if;
  return confirm_two_factor(p_user, p_attempt, p_step, p_sms);
end $$;

-- As before; and one owner of an organization at a time, so that the last two do not each count on the other. Locked before
-- the user, as by whoever changes members.
create or replace function delete_user(who uuid, insists boolean, may_touch text[]) returns jsonb language plpgsql as $$
declare u app_user; held jsonb;
begin
  perform 1 from organization o
   where exists (select 1 from organization_member m where m.organization_id = o.id and m.user_id = who and m.role = 'OrgOwner')
   order by o.id for update;
  select * into u from app_user where id = who and deleted_at is null for update;
  if not found then return null; end if;
  if u.role <> all (may_touch) then return jsonb_build_object('role', u.role); end if;
  held := user_holdings(who);
  if not insists and exists (select 1 from jsonb_each(held) h where h.value <> '[]') then
    return jsonb_build_object('held', held);
  end if;
  delete from outbox where recipient in (u.email, u.alternate_id);
  delete from magic_link where user_id = who or email = u.email;
  delete from api_key where user_id = who;
  delete from two_factor where user_id = who;
  delete from sms_code where user_id = who;
  delete from payment_method where user_id = who;
  delete from organization_member where user_id = who;
  delete from user_feature where user_id = who;
  delete from user_interest where user_id = who;
  delete from interest_notice where user_id = who;
  delete from wallet where user_id = who;
  delete from pubkey k where k.user_id = who and not exists (select 1 from emoji_id e where e.pubkey = k.pubkey);
  update app_user set email = null, alternate_id = null, first_name = null, last_name = null, source = null,
         password_hash = null, email_verified_at = null, role = 'User',
         deactivated_at = coalesce(deactivated_at, now()), deleted_at = now(), updated_at = now()
   where id = who returning * into u;
  return jsonb_build_object('user', display_user(u), 'kept', held->'emoji_ids',
                            'events', end_sessions(who, 'deleted')->'events');
end $$;

-- When an address of the account was proven, kept while a new one is not: whoever set its second factors was no squatter.
alter table app_user add column proven_at timestamptz;
create function keep_proven_at() returns trigger language plpgsql as $$
begin
  new.proven_at := coalesce(old.proven_at, old.email_verified_at);
  return new;
end $$;
create trigger app_user_unproven before update on app_user for each row
  when (old.email_verified_at is not null and new.email_verified_at is null) execute function keep_proven_at();

-- As before; but the second factors and the custodial keys of an account that moved to this address stay: who reads the mail
-- there has shown one factor, not two.
create or replace function consume_magic_link(p_hashes text[], p_attempt uuid) returns jsonb language plpgsql as $$
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
  if l.purpose = 'login' and u.email_verified_at is null then
    with k as (delete from api_key where user_id = u.id returning id) select array_agg(id) into keys from k;
    delete from two_factor where user_id = u.id and u.proven_at is null;
    delete from wallet where user_id = u.id;
    delete from pubkey k where k.user_id = u.id and not (k.sealed_key is not null and u.proven_at is not null)
       and not exists (select 1 from emoji_id e where e.pubkey = k.pubkey);
    over := end_sessions(u.id, 'claimed');
  end if;
  update app_user set email_verified_at = coalesce(email_verified_at, now()), invited_at = null, updated_at = now()
   where id = u.id;
  return jsonb_build_object('user_id', u.id, 'ended', over, 'api_keys', coalesce(to_jsonb(keys), '[]'));
end $$;
