-- As before; but an id that is spelled in skin tones is shown in them, as a bought one is.
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
  perform put_grants(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
    'canonical', p->>'canonical', 'owner_id', owner, 'pubkey', chosen, 'source', 'admin', 'display', p->'display'))));
  return jsonb_build_object('outcome', 'registered', 'events', put_events(jsonb_build_array(jsonb_build_object(
    'channel', 'emoji_id:' || (p->>'canonical'), 'type', 'emoji_id.registered',
    'data', jsonb_build_object('emoji_id', p->>'canonical', 'version',
                               (select e.version from emoji_id e where e.canonical = p->>'canonical'))))));
end $$;
