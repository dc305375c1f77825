-- Mail with codes and login links is sent before other mail, so each of both has an index of what is due. The kinds are
-- those of `urgentKinds` in src/turns/outbox.ts. The index outbox_due stays for the previous release.
create index outbox_due_codes on outbox (due_at)
  where sent_at is null and kind in ('magic_link', 'confirm_email', 'password_reset', 'two_factor_sms',
    'transfer_sender_code', 'transfer_receiver_code', 'transfer_invitation');
create index outbox_due_others on outbox (due_at)
  where sent_at is null and kind not in ('magic_link', 'confirm_email', 'password_reset', 'two_factor_sms',
    'transfer_sender_code', 'transfer_receiver_code', 'transfer_invitation');

-- The server that the service has last used, see the function follow_timeline.
create table database_timeline (
  is_only  boolean primary key default true check (is_only),
  system   text not null,
  timeline int not null
);
