-- Stores a mint permission if the caller may mint the id. The claim is locked first. So either this function sees a
-- transfer that is requested at the same time, or the transfer sees the permission when it is accepted.
create or replace function permit_mint(p_canonical text, p_user uuid, p_organizations uuid[], p_until timestamptz) returns jsonb
language plpgsql as $$
declare e emoji_id; held_for text;
begin
  select c.kind into held_for from claim c where c.canonical = p_canonical for update;
  select * into e from emoji_id where canonical = p_canonical for update;
  if not found then return '{"outcome": "absent"}'; end if;
  if not may_write(e, p_user, p_organizations) then return '{"outcome": "forbidden"}'; end if;
  if e.minted_at is not null then return '{"outcome": "minted"}'; end if;
  if held_for = 'transfer' then return '{"outcome": "in_transfer"}'; end if;
  if e.blocked_until > now() then
    return jsonb_build_object('outcome', 'blocked', 'until', wire_time(e.blocked_until));
  end if;
  update emoji_id set mint_until = greatest(mint_until, p_until) where canonical = p_canonical;
  return '{"outcome": "permitted"}';
end $$;

-- Records whether an id is minted as a token. Refuses another token than the one of the id, and an id with an active
-- transfer: while an id is minted, only an administrator can transfer it. The claim is locked first, as in
-- permit_mint. A repeated call changes nothing. `listed` is the id afterwards.
create or replace function set_minted(p_canonical text, p_minted boolean, p_token bigint) returns jsonb
language plpgsql as $$
declare e emoji_id; held_for text;
begin
  select c.kind into held_for from claim c where c.canonical = p_canonical for update;
  select * into e from emoji_id where canonical = p_canonical for update;
  if not found then return '{"outcome": "absent"}'; end if;
  if p_token <> e.token_id then return jsonb_build_object('outcome', 'other_token', 'token_id', e.token_id); end if;
  if (e.minted_at is not null) = p_minted then
    return jsonb_build_object('outcome', 'unchanged', 'listed', listed_emoji_id(e));
  end if;
  if p_minted and held_for = 'transfer' then return '{"outcome": "in_transfer"}'; end if;
  update emoji_id set minted_at = case when p_minted then now() end, version = version + 1, updated_at = now()
   where canonical = p_canonical returning * into e;
  perform put_id_changes(jsonb_build_array(jsonb_build_object(
            'canonical', p_canonical, 'version', e.version, 'kind', case when p_minted then 'minted' else 'burned' end,
            'owner_id', e.owner_id)));
  return jsonb_build_object('outcome', 'changed', 'owner_id', e.owner_id, 'token_id', e.token_id, 'listed', listed_emoji_id(e),
    'events', put_events(jsonb_build_array(jsonb_build_object(
      'channel', 'emoji_id:' || p_canonical, 'type', 'emoji_id.minted',
      'data', jsonb_build_object('emoji_id', p_canonical, 'version', e.version, 'minted', p_minted)))));
end $$;
