-- All channels are in the epoch of the table live_epoch. So renewing it changes one row and not every channel, which took longer than
-- a statement may with a million channels. The column stays for processes of release 0.2.0, which read it.
comment on column channel.epoch is 'only read by release 0.2.0';
