-- GET /admin/figures sums the bookings of the last days.
create index journal_at on journal (at);
