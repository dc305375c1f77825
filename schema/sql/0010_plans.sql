-- Plans are kept for as long as a connection lives, and the first ones are made while the tables are empty. So what every
-- turn does must have one way only: no index but the primary key begins with the kind, or an entity would be looked for
-- among all of its kind, and a journal's lines are found by the journal.
drop index entity_owner;
drop index entity_peer;
drop index entity_subject;
create index entity_owner on entity (owner_id, kind, created_at desc);
create index entity_peer on entity (peer_id, kind, created_at desc) where peer_id is not null;
create index entity_subject on entity (subject, kind) where subject is not null;

create or replace function check_journals_balance() returns trigger language plpgsql as $$
begin
  if exists (select 1 from (select distinct journal_id from fresh) f
              where (select sum(l.cents) from ledger_line l where l.journal_id = f.journal_id) <> 0) then
    raise exception using errcode = 'EI009', message = 'a journal does not sum to zero';
  end if;
  return null;
end $$;
