-- When an id got a new owner, for the warning of send-ready answers. Null if the id never changed its owner, or changed it before this
-- migration: then blocked_until shows a recent transfer.
alter table emoji_id add column owner_changed_at timestamptz;
