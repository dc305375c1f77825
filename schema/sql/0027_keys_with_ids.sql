-- The ids of an organization are listed by key. An organization can have very many keys that never had an id, so the list reads only
-- the keys that have had one. The value never becomes false again: the list then finds no id of the key.
alter table pubkey add column has_had_ids boolean not null default false;

-- Here and not in functions/ because no id may be stored between the creation of the triggers and the update below.
create function mark_key_with_ids() returns trigger language plpgsql as $$
begin
  update pubkey set has_had_ids = true where pubkey = new.pubkey and not has_had_ids;
  return null;
end $$;
create trigger emoji_id_registered after insert on emoji_id for each row
  when (new.pubkey is not null) execute function mark_key_with_ids();
create trigger emoji_id_key_changed after update of pubkey on emoji_id for each row
  when (new.pubkey is not null and new.pubkey is distinct from old.pubkey) execute function mark_key_with_ids();

-- A key can be deleted and stored again while ids refer to it.
create function find_ids_of_key() returns trigger language plpgsql as $$
begin
  new.has_had_ids := exists (select 1 from emoji_id where pubkey = new.pubkey);
  return new;
end $$;
create trigger pubkey_stored before insert on pubkey for each row execute function find_ids_of_key();

update pubkey k set has_had_ids = true where exists (select 1 from emoji_id e where e.pubkey = k.pubkey);

create index pubkey_with_ids on pubkey (organization_id, pubkey) where organization_id is not null and has_had_ids;
drop index pubkey_in_organization;
