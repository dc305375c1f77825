-- Moves ids to new owners. Locks the ids first, in the same order as edit_batch does. So it waits for an edit in
-- progress, and also clears the records that the edit wrote. Raises EI003 (owner_gone) if a recipient was deleted.
-- Raises EI003 (key_gone) if a key no longer belongs to the new owner: otherwise another user who has the key could
-- write to the id.
create or replace function put_moves(p jsonb) returns void language plpgsql as $$
declare moved int; gone uuid;
begin
  perform 1 from emoji_id where canonical in (select x->>'canonical' from jsonb_array_elements(p) x)
    order by canonical for update;
  with owner as materialized (
    select u.id, u.deleted_at from app_user u
     where u.id in (select x.owner_id from jsonb_to_recordset(p) as x(owner_id uuid)) order by u.id for key share)
  select id into gone from owner where deleted_at is not null limit 1;
  if gone is not null then
    raise exception using errcode = 'EI003', message = 'no such user', detail = 'owner_gone';
  end if;
  perform 1 from jsonb_to_recordset(p) as x(owner_id uuid, pubkey text)
   where x.pubkey is not null
     and not exists (select 1 from pubkey k where k.pubkey = x.pubkey and k.user_id = x.owner_id);
  if found then
    raise exception using errcode = 'EI003', message = 'no such key', detail = 'key_gone';
  end if;
  delete from record r using jsonb_to_recordset(p) as x(canonical text, clear_records boolean)
   where r.canonical = x.canonical and x.clear_records;
  delete from json_store j using jsonb_to_recordset(p) as x(canonical text, clear_records boolean)
   where j.canonical = x.canonical and x.clear_records;
  -- The former owner may have locked future writes. The lock does not apply to the new owner.
  update json_store j set locked_future_writes_at = null from jsonb_to_recordset(p) as x(canonical text)
   where j.canonical = x.canonical and j.locked_future_writes_at is not null;
  update emoji_id e
     set merkle_root = null, signature = null, owner_id = x.owner_id, pubkey = x.pubkey, version = e.version + 1, updated_at = now(),
         blocked_until = now() + make_interval(secs => x.blocked_seconds)
    from jsonb_to_recordset(p) as x(canonical text, owner_id uuid, pubkey text, blocked_seconds int)
   where e.canonical = x.canonical;
  get diagnostics moved = row_count;
  if moved <> jsonb_array_length(p) then raise exception 'an id that is not registered cannot move'; end if;
end $$;

-- Counts an attempt to enter the code of a transfer, unless the user has entered too many wrong codes within
-- p_window: p_per_id for this id, or p_per_user in total. Then returns which limit is used up (`limit`), and when the
-- oldest counted attempt leaves the window. The user is locked, so concurrent attempts are counted one after another.
-- A repeated call with the same p_attempt counts once.
create or replace function take_transfer_attempt(
  p_attempt uuid, p_user uuid, p_eid text, p_per_id int, p_per_user int, p_window interval) returns jsonb language plpgsql as $$
declare used_up text; since timestamptz;
begin
  perform hold_user(p_user);
  if not exists (select 1 from wrong_transfer_code where id = p_attempt) then
    select l.name, l.since into used_up, since from (
      select 'user' as name, (select w.at from wrong_transfer_code w where w.user_id = p_user and w.at > now() - p_window
                               order by w.at desc offset p_per_user - 1 limit 1) as since
      union all
      select 'id', (select w.at from wrong_transfer_code w where w.user_id = p_user and w.eid = p_eid and w.at > now() - p_window
                     order by w.at desc offset p_per_id - 1 limit 1)) l
     where l.since is not null order by l.since desc limit 1;
    if used_up is null then
      insert into wrong_transfer_code (id, user_id, eid) values (p_attempt, p_user, p_eid);
    end if;
  end if;
  return jsonb_build_object('limit', used_up, 'free_at', wire_time(since + p_window),
                            'wait_seconds', coalesce(extract(epoch from since + p_window - now()), 0));
end $$;
