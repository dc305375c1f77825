-- As before; but an id that was bought in skin tones is shown in them: its display modifiers come with it.
create or replace function put_grants(p jsonb) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare gone uuid;
begin
  with owner as materialized (
    select u.id, u.deleted_at from app_user u
     where u.id in (select x.owner_id from jsonb_to_recordset(p) as x(owner_id uuid)) order by u.id for key share)
  select id into gone from owner where deleted_at is not null limit 1;
  if gone is not null then
    raise exception using errcode = 'EI003', message = 'no such user', detail = 'owner_gone';
  end if;
  insert into emoji_id (canonical, owner_id, pubkey, source, version)
  select x.canonical, x.owner_id,
         coalesce((select k.pubkey from pubkey k where k.pubkey = x.pubkey and k.user_id = x.owner_id),
                  (select k.pubkey from pubkey k where k.user_id = x.owner_id order by k.created_at, k.pubkey limit 1)),
         x.source,
         1 + coalesce((select c."offset" from channel c where c.name = 'emoji_id:' || x.canonical), 0)
    from jsonb_to_recordset(p) as x(canonical text, owner_id uuid, pubkey text, source text) order by x.canonical;
  if p @? '$[*].display' then
    insert into record (canonical, hash, tag, data)
    select x.canonical, x.display->>'hash', 1, x.display->>'data'
      from jsonb_to_recordset(p) as x(canonical text, display jsonb) where x.display is not null;
  end if;
end $$;
