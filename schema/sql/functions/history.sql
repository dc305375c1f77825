-- Functions for the history of emoji ids, and for the notices to their owners.

-- Whether payments can go to the data of a record with this tag: the classes crypto and payment in record-tag.ts.
create or replace function is_payment_tag(tag int) returns boolean language sql immutable as $$
  select tag between 4096 and 16383 or tag between 25088 and 25343
$$;

-- Whether one of the records is an address for payments.
create or replace function has_payment_tag(records changed_record[]) returns boolean language sql immutable as $$
  select coalesce((select bool_or(is_payment_tag(r.tag)) from unnest(records) r), false)
$$;

-- Removes the data of records from a list, so that the rest of it has at most 16 KB. Addresses for payments are kept first. Without a
-- limit, the owner of an id could store a megabyte with every edit, and the history is never deleted.
create or replace function shorten_records(records changed_record[]) returns changed_record[] language sql immutable as $$
  select case when pg_column_size(records) <= 16384 then records else (
    select array_agg(row(x.tag, x.hash, case when x.total <= 16384 then x.data end)::changed_record order by x.n)
      from (select r.tag, r.hash, r.data, r.n, sum(length(r.data)) over (order by is_payment_tag(r.tag) desc, r.n) as total
              from unnest(records) with ordinality as r(tag, hash, data, n)) x) end
$$;

-- Adds changes to the history, and queues the notices to the owners before and after them. The function that changes ids
-- calls it, so the change and its history are committed together. edit_batch and put_grants do the same in their own
-- statements, because they are called most.
--   p  {canonical, version, kind, owner_id, former_owner_id (if it is another one), added, removed (both [{tag, hash, data}]),
--      pubkey_before, pubkey_after}. With `quiet` there is no mail
-- The kind `released` deletes the history: the id no longer exists.
create or replace function put_id_changes(p jsonb) returns void language plpgsql as $$
begin
  with change as materialized (
    select x.* from jsonb_to_recordset(p) as x(
      canonical text, version bigint, kind text, owner_id uuid, former_owner_id uuid, added changed_record[], removed changed_record[],
      pubkey_before text, pubkey_after text, quiet boolean)
  ), stored as (
    insert into emoji_id_change as c (canonical, version, kind, owner_id, former_owner_id, added, removed, pubkey_before, pubkey_after)
    -- Postgres does not inline shorten_records, and a call costs more than the rest of the row.
    select x.canonical, x.version, x.kind, x.owner_id, x.former_owner_id,
           case when pg_column_size(x.added) > 16384 then shorten_records(x.added) else x.added end,
           case when pg_column_size(x.removed) > 16384 then shorten_records(x.removed) else x.removed end,
           x.pubkey_before, x.pubkey_after
      from change x where x.kind <> 'released'
  )
  insert into id_notice (user_id, canonical, version, kind, is_mailed)
  select w.user_id, x.canonical, x.version, x.kind,
         x.kind in ('owner', 'key', 'released') or x.quiet is not true and (x.added is not null or x.removed is not null) and has_payment_tag(x.added || x.removed)
    from change x cross join unnest(array[x.former_owner_id, x.owner_id]) as w(user_id)
   where w.user_id is not null;
  if p @? '$[*] ? (@.kind == "released")' then
    delete from emoji_id_change c
     where c.canonical = any(array(select x->>'canonical' from jsonb_array_elements(p) x where x->>'kind' = 'released'));
  end if;
end $$;

-- Sends the live events of queued notices, at most `most`, and queues those that are also mailed. Returns the channel and
-- offset of each event. Only one process does this at a time, so that the events of an id have the order of its versions.
create or replace function tell_id_changes(most int) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare told jsonb;
begin
  perform 1 from history_start for update skip locked;
  if not found then return '[]'; end if;
  with taken as (
    delete from id_notice n where n.seq = any(array(select o.seq from id_notice o order by o.seq limit most)) returning n.*
  ), mailed as (
    insert into id_mail (user_id, seq, canonical, version, kind, at)
    select t.user_id, t.seq, t.canonical, t.version, t.kind, t.at
      from taken t join app_user u on u.id = t.user_id and u.deleted_at is null and notice_address(u) is not null
     where t.is_mailed order by t.user_id, t.seq
    returning user_id
  ), due as (
    insert into id_mail_turn as m (user_id, due_at) select distinct user_id, now() from mailed order by user_id
    on conflict (user_id) do update set due_at = coalesce(m.due_at, greatest(m.sent_at + interval '1 hour', now()))
  )
  select jsonb_agg(jsonb_build_object('channel', 'emoji_ids:' || t.user_id, 'type', 'emoji_ids.changed',
           'data', jsonb_build_object('emoji_id', t.canonical, 'version', t.version, 'kind', t.kind, 'at', wire_time(t.at)))
           order by t.user_id, t.seq)
    into told from taken t;
  return put_events(coalesce(told, '[]'));
end $$;

-- The address for mail about changed ids: the confirmed address. While a new address is not confirmed, it is the
-- one before: a person who has taken over an account must not receive the warnings instead of its owner.
create or replace function notice_address(u app_user) returns text language sql stable as $$
  select case when u.email_verified_at is not null then u.email else u.proven_email end
$$;

-- Returns the users whose mail is due, each with the changes that it reports: those of owners first, then the newest. At
-- most `lines` changes are returned, and all ids with the numbers of their changes, at most `lines` of them.
create or replace function due_id_mail(most int, lines int)
returns table (user_id uuid, email text, last_seq bigint, total int, changes jsonb, ids jsonb) language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
begin
  return query
  select d.user_id, notice_address(u), w.last_seq, w.total, w.changes, w.ids
    from (select t.user_id from id_mail_turn t where t.due_at <= now() order by t.due_at limit most) d
    join app_user u on u.id = d.user_id
   cross join lateral (
     select max(m.seq) as last_seq, count(*)::int as total, (
       select jsonb_agg(jsonb_build_object(
                'canonical', l.canonical, 'version', l.version, 'kind', l.kind, 'at', wire_time(l.at),
                'got', c.owner_id = d.user_id and c.former_owner_id is not null,
                'added', c.added, 'removed', case when c.owner_id = d.user_id and c.former_owner_id is not null then null else c.removed end))
         from (select * from id_mail o where o.user_id = d.user_id
                order by o.kind not in ('owner', 'key', 'released'), o.seq desc limit lines) l
         left join emoji_id_change c on c.canonical = l.canonical and c.version = l.version
                                    and d.user_id in (c.owner_id, c.former_owner_id)) as changes, (
       select jsonb_agg(jsonb_build_object('canonical', i.canonical, 'count', i.count))
         from (select o.canonical, count(*) as count from id_mail o where o.user_id = d.user_id
                group by o.canonical order by 2 desc, 1 limit lines) i) as ids
       from id_mail m where m.user_id = d.user_id) w;
end $$;

-- Stores the mail about the changes up to `last`, unless another process has done it. The next mail is due an hour later at the
-- earliest. `mail` is empty if the user has no address.
create or replace function send_id_mail(who uuid, last bigint, mail jsonb) returns void language plpgsql as $$
begin
  update id_mail_turn t set sent_at = now(), due_at = null where t.user_id = who and t.due_at <= now();
  if not found then return; end if;
  delete from id_mail m where m.user_id = who and m.seq <= last;
  perform put_mail(mail);
  update id_mail_turn t set due_at = now() + interval '1 hour'
   where t.user_id = who and exists (select 1 from id_mail m where m.user_id = who);
end $$;

-- Removes what identifies a deleted user from the history of the ids that the user owns or has owned, and the notices. The
-- versions, kinds and times stay, because they are public.
create or replace function forget_owner(who uuid) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare ids text[];
begin
  ids := array(select e.canonical from emoji_id e where e.owner_id = who
               union select c.canonical from emoji_id_change c where c.former_owner_id = who);
  update emoji_id_change c
     set added = null, removed = null, pubkey_before = null, pubkey_after = null, store_key = null, signed = null,
         owner_id = nullif(c.owner_id, who), former_owner_id = nullif(c.former_owner_id, who)
   where c.canonical = any(ids) and who in (c.owner_id, c.former_owner_id);
  delete from id_notice n where n.user_id = who;
  delete from id_mail m where m.user_id = who;
  delete from id_mail_turn t where t.user_id = who;
end $$;
