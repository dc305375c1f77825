-- As before; but a payment may come when its buyer has gone, or has lost the key that was chosen: nothing is given to a
-- nameless account, and no id is bound to a key that is somebody else's by now. A deletion waits for grants under way.
create or replace function put_grants(p jsonb) returns void language plpgsql as $$
declare gone uuid;
begin
  with owner as materialized (
    select u.id, u.deleted_at from app_user u
     where u.id in (select x.owner_id from jsonb_to_recordset(p) as x(owner_id uuid)) order by u.id for key share)
  select id into gone from owner where deleted_at is not null limit 1;
  if gone is not null then
    raise exception using errcode = 'EI003', message = 'no such user', detail = 'owner_gone';
  end if;
  insert into emoji_id (canonical, owner_id, pubkey, source)
  select x.canonical, x.owner_id,
         coalesce((select k.pubkey from pubkey k where k.pubkey = x.pubkey and k.user_id = x.owner_id),
                  (select k.pubkey from pubkey k where k.user_id = x.owner_id order by k.created_at, k.pubkey limit 1)),
         x.source
    from jsonb_to_recordset(p) as x(canonical text, owner_id uuid, pubkey text, source text) order by x.canonical;
end $$;
