-- GET /admin/events?kind=… lists the events of a kind, newest first. The kind is the first part of the type or of the channel. Both are
-- the same for most events, so the second index is small.
create index event_of_type on event (split_part(type, '.', 1), at);
create index event_of_channel on event (split_part(channel, ':', 1), at)
 where split_part(channel, ':', 1) <> split_part(type, '.', 1);
