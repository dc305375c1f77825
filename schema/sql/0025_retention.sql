-- Retention: channels that are deleted when they are unused, and indexes that find expired rows.

-- Where the offsets of a channel without a row begin, if channels of its kind are deleted (channel_start in functions/turns.sql). It
-- is at least the last offset of every deleted channel. So a channel that gets events again continues with higher offsets,
-- and a client can never take a new event for one that it has already received.
alter table live_epoch add column channel_floor bigint not null default 0;
alter table live_epoch add column floor_raised_at timestamptz not null default '-infinity';

-- The channels that are deleted when they are unused. Channels of emoji ids stay, because the version of an id continues from
-- the offset of its channel. The functions repeat this condition, so that they can use the index.
create index channel_deletable on channel (name) where name not like 'emoji_id:%' and name not like 'market%';

-- Days are deleted from the beginning, and their space is used again by new days. After that every range of a BRIN index has
-- rows of all days, so a search by day would read the whole table.
drop index emoji_id_view_day;
create index emoji_id_view_day on emoji_id_view (day);

create index interest_notice_told on interest_notice (told_at);

-- Intents of the sandbox that were cancelled without a payment are deleted, with their declined payments.
create index sandbox_intent_unpaid on sandbox_intent (created_at) where status = 'cancelled' and paid_cents = 0;
alter table sandbox_payment drop constraint sandbox_payment_intent_id_fkey;
alter table sandbox_payment add constraint sandbox_payment_intent_id_fkey
  foreign key (intent_id) references sandbox_intent on delete cascade not valid;
