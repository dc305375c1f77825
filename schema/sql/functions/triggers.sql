-- Trigger functions and their triggers. When a function file changes, everything in it is created again, and creating a trigger
-- locks its table. So all triggers are in this file, and a change to another function file locks no table.

-- Keeps the address that was verified last, and when that was, while a new address is not verified. A deleted account keeps none.
create or replace function keep_proven_at() returns trigger language plpgsql as $$
begin
  if new.deleted_at is not null then
    new.proven_email := null;
    return new;
  end if;
  new.proven_at := coalesce(old.proven_at, old.email_verified_at);
  new.proven_email := old.email;
  return new;
end $$;
create or replace trigger app_user_unproven before update on app_user for each row
  when ((old.email_verified_at is not null and new.email_verified_at is null)
        or (old.deleted_at is null and new.deleted_at is not null)) execute function keep_proven_at();

-- Double entry is enforced here and does not depend on callers: each journal that an insert touches must sum to zero. The lines
-- are read journal by journal: a cached plan, made while the table was small, could otherwise read all lines.
create or replace function check_journals_balance() returns trigger language plpgsql as $$
begin
  if exists (select 1 from (select distinct journal_id from fresh) f
              where (select sum(l.cents) from ledger_line l where l.journal_id = f.journal_id) <> 0) then
    raise exception using errcode = 'EI009', message = 'a journal does not sum to zero';
  end if;
  return null;
end $$;
create or replace trigger ledger_line_balances after insert on ledger_line
  referencing new table as fresh for each statement execute function check_journals_balance();

-- The ledger is append-only. A mistake is corrected by another journal.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception using errcode = 'EI009', message = format('%s is only added to', tg_table_name);
end $$;
create or replace trigger ledger_line_stays before update or delete on ledger_line
  for each statement execute function refuse_change();
create or replace trigger journal_stays before update or delete on journal
  for each statement execute function refuse_change();

-- A payment method that is deleted here must be detached at its provider, too.
create or replace function put_method_to_forget() returns trigger language plpgsql as $$
begin
  insert into method_to_forget (id, provider) values (old.id, old.provider) on conflict (id) do nothing;
  return null;
end $$;
create or replace trigger payment_method_hidden after update of deleted_at on payment_method for each row
  when (old.deleted_at is null and new.deleted_at is not null) execute function put_method_to_forget();
create or replace trigger payment_method_gone after delete on payment_method for each row
  when (old.deleted_at is null) execute function put_method_to_forget();

-- A deleted OAuth client's grants are revoked. They stay until their access tokens have expired.
create or replace function revoke_grants_of_client() returns trigger language plpgsql as $$
begin
  update oauth_grant set revoked_at = coalesce(revoked_at, now()) where client_id = old.client_id;
  return old;
end $$;
create or replace trigger oauth_client_deleted before delete on oauth_client for each row
  execute function revoke_grants_of_client();
