-- What lists count, filter and sort by is known to an index: only the entities on a page are opened. Everybody may list the
-- lootboxes, so they have one of their own, which costs other turns nothing; for orders and transfers it is the one of before.
create index lootbox_listed on entity (created_at, id) include (status, owner_id, updated_at) where kind = 'lootbox';
create index entity_listed_wide on entity (created_at, kind, id) include (status, updated_at);
drop index entity_listed;
alter index entity_listed_wide rename to entity_listed;
