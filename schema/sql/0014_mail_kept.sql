-- Mail that nobody carries stays in the outbox to be read there: it is done when it is written, and needs no second writing.
create or replace function put_mail(p jsonb) returns void language plpgsql as $$
begin
  insert into outbox (recipient, kind, payload, sent_at)
  select x.recipient, x.kind, x.payload, case when x.kept then now() end
    from jsonb_to_recordset(p) as x(recipient text, kind text, payload text, kept boolean);
end $$;
