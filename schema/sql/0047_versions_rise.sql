-- An id that was given up and is registered anew goes on counting: who keeps addresses by the version they were read at would
-- take those of its next owner for older than the ones of before, or for the same. Its channel outlives it and has an event
-- for each of its versions.
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
end $$;

-- As before; but the event names the version it is, and an account that is deactivated is given no id: nobody is in it who could
-- have it.
create or replace function register_emoji_id(p jsonb) returns jsonb language plpgsql as $$
declare owner uuid; chosen text; unproven boolean;
begin
  select id, email_verified_at is null and invited_at is null into owner, unproven from app_user
   where deleted_at is null and deactivated_at is null and (id = (p->>'user_id')::uuid or email = lower(p->>'email'));
  if owner is null then return '{"outcome": "no_user"}'; end if;
  if unproven and p->>'user_id' is null then return '{"outcome": "unproven"}'; end if;
  select k.pubkey into chosen from pubkey k
   where k.user_id = owner and (p->>'pubkey' is null or k.pubkey = lower(p->>'pubkey')) order by k.created_at limit 1;
  if chosen is null and p->>'pubkey' is not null then return '{"outcome": "no_pubkey"}'; end if;
  if exists (select 1 from emoji_id where canonical = p->>'canonical') then return '{"outcome": "taken"}'; end if;
  perform put_claims(jsonb_build_array(jsonb_build_object(
    'canonical', p->>'canonical', 'kind', 'owned', 'holder', owner, 'owner_id', owner)));
  perform put_grants(jsonb_build_array(jsonb_build_object(
    'canonical', p->>'canonical', 'owner_id', owner, 'pubkey', chosen, 'source', 'admin')));
  return jsonb_build_object('outcome', 'registered', 'events', put_events(jsonb_build_array(jsonb_build_object(
    'channel', 'emoji_id:' || (p->>'canonical'), 'type', 'emoji_id.registered',
    'data', jsonb_build_object('emoji_id', p->>'canonical', 'version',
                               (select e.version from emoji_id e where e.canonical = p->>'canonical'))))));
end $$;
