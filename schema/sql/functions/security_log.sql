-- Functions for the security log of users.

-- Adds entries to the security log. If a user already has `most` entries of the same event within a day, the entry is
-- counted in the newest of them. The id is chosen by the caller, so an entry that is sent again after a lost response
-- is stored once. Entries are stored in the order of their users, so that two concurrent calls cannot deadlock.
-- Nothing is stored for deleted users, because the entries contain personal data.
create or replace function put_security_log(p jsonb) returns void language plpgsql as $$
declare e jsonb; who uuid; counted int;
begin
  for e in select x.value from jsonb_array_elements(p) with ordinality x(value, n) order by x.value->>'user_id', x.n loop
    who := (e->>'user_id')::uuid;
    continue when exists (select 1 from security_log l where l.id = (e->>'id')::uuid);
    select count(*) into counted from (
      select 1 from security_log l where l.user_id = who and l.event = e->>'event' and l.at > now() - interval '1 day'
       limit (e->>'most')::int) x;
    if counted < (e->>'most')::int then
      insert into security_log (id, user_id, event, actor_id, via, address, user_agent, request_id, details)
      select (e->>'id')::uuid, u.id, e->>'event', (e->>'actor_id')::uuid, e->>'via', e->>'address', e->>'user_agent',
             e->>'request_id', coalesce(e->'details', '{}')
        from app_user u where u.id = who and u.deleted_at is null
      on conflict (id) do nothing;
    else
      update security_log set count = count + 1, last_at = clock_timestamp(), address = e->>'address',
             user_agent = e->>'user_agent', request_id = e->>'request_id'
       where id = (select l.id from security_log l where l.user_id = who and l.event = e->>'event'
                    order by l.at desc limit 1);
    end if;
  end loop;
end $$;
