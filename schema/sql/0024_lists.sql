-- Indexes for lists. A list is read page by page in the order of an index, and counted up to 10,000. So its cost does not grow with
-- the table (src/postgres/pages.ts). Each index begins with the columns of a filter and continues with the sort columns; the last one
-- identifies a row. Postgres reads an index in both directions, so one index serves `Asc` and `Desc`.

-- Orders, transfers and lootboxes. A turn writes its entity to every index that contains its kind, so each kind has its own partial
-- indexes. The status comes before the sort columns: the list of all entities merges the statuses, so it needs no index of its own.
create index order_listed on entity (status, created_at, id) where kind = 'order';
create index order_changed on entity (status, updated_at, id) where kind = 'order';
create index order_owned on entity (owner_id, status, created_at, id) where kind = 'order';
create index order_owned_changed on entity (owner_id, status, updated_at, id) where kind = 'order';
-- The number on the receipt: orderNumberDigits in machines/orders/effects.ts.
create index order_numbered on entity (right(id::text, 8)) where kind = 'order';

create index lootbox_by_status on entity (status, created_at, id) where kind = 'lootbox';
create index lootbox_changed on entity (status, updated_at, id) where kind = 'lootbox';
create index lootbox_owned on entity (owner_id, status, created_at, id) where kind = 'lootbox';
create index lootbox_owned_changed on entity (owner_id, status, updated_at, id) where kind = 'lootbox';

create index transfer_listed on entity (created_at, id) where kind = 'transfer';
create index transfer_accepted on entity (((state->'context'->>'acceptedAt') collate "C"), id) where kind = 'transfer';
create index transfer_of_id on entity (subject, id) where kind = 'transfer';
create index transfer_sent on entity (owner_id, status, created_at, id) where kind = 'transfer';
create index transfer_sent_accepted on entity (owner_id, ((state->'context'->>'acceptedAt') collate "C"), id) where kind = 'transfer';
create index transfer_sent_of_id on entity (owner_id, subject, id) where kind = 'transfer';
create index transfer_received on entity (peer_id, status, created_at, id) where kind = 'transfer';

-- The release before uses these indexes only for lists. While both releases run, its lists of all orders and transfers are slow.
drop index entity_listed, lootbox_listed, entity_peer, entity_subject;

create index app_user_listed on app_user (created_at, id) where deleted_at is null;
create index app_user_changed on app_user (updated_at, id) where deleted_at is null;
create index app_user_by_email on app_user (email, id) where deleted_at is null;
create index app_user_by_first_name on app_user (first_name, id) where deleted_at is null;
create index app_user_by_last_name on app_user (last_name, id) where deleted_at is null;
create index app_user_by_role on app_user (role, id) where deleted_at is null;
drop index app_user_created, app_user_email_order;

create index code_listed on code (code_type, created_at, id);
create index code_by_name on code (code_type, name, id);
create index code_of_organization on code (organization_id, code_type, created_at, id) where organization_id is not null;
create index code_of_organization_by_name on code (organization_id, code_type, name, id) where organization_id is not null;
drop index code_created, code_organization;

create index organization_listed on organization (created_at, id);
create index organization_changed on organization (updated_at, id);
create index organization_by_name on organization (name, id);
create index organization_member_listed on organization_member (organization_id, created_at, user_id);

create index pubkey_of_organization on pubkey (organization_id, created_at, pubkey) where organization_id is not null;
-- The ids of an organization are listed by key.
create index pubkey_in_organization on pubkey (organization_id, pubkey) where organization_id is not null;
drop index pubkey_organization;

create index oauth_client_listed on oauth_client (created_at, client_id);
create index lootbox_type_listed on lootbox_type (created_at, id);
create index payment_method_listed on payment_method (user_id, is_default, created_at, id) where deleted_at is null;
create index user_interest_listed on user_interest (user_id, created_at, canonical);
create index user_interest_changed on user_interest (user_id, updated_at, canonical);

-- Ids of a user are listed in the order of their registration, which is the order of their token ids. Those of an organization are
-- listed by key.
create index emoji_id_owned on emoji_id (owner_id, token_id);
create index emoji_id_of_key on emoji_id (pubkey, owner_id, token_id) where pubkey is not null;
drop index emoji_id_owner, emoji_id_pubkey;

-- The orders with money that is held for them, and how much. Before, they were found by adding up all lines that ever held money.
create table held_money (
  order_id uuid   primary key,
  cents    bigint not null
);

-- Here and not in functions/ because no line may be added between the first sum below and the creation of the trigger. The lock
-- makes writers of the ledger wait until this migration is committed.
lock table ledger_line in share row exclusive mode;
create function sum_held_money() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if not exists (select 1 from fresh where account = 'held') then return null; end if;
  insert into held_money as h (order_id, cents)
  select j.order_id, -sum(f.cents) from fresh f join journal j on j.id = f.journal_id
   where f.account = 'held' group by j.order_id having sum(f.cents) <> 0 order by j.order_id
  on conflict (order_id) do update set cents = h.cents + excluded.cents;
  delete from held_money h using fresh f, journal j
   where f.account = 'held' and j.id = f.journal_id and h.order_id = j.order_id and h.cents = 0;
  return null;
end $$;
create trigger ledger_line_held after insert on ledger_line
  referencing new table as fresh for each statement execute function sum_held_money();
insert into held_money (order_id, cents)
select j.order_id, -sum(l.cents) from ledger_line l join journal j on j.id = l.journal_id
 where l.account = 'held' group by j.order_id having sum(l.cents) <> 0;
drop index ledger_held;
