-- An id that its owner may still mint is not taken out: whoever bought it next would share it with a token.
-- The claim is locked first, as by those who move ids or permit to mint them.
create or replace function destroy_emoji_id(p_canonical text) returns jsonb language plpgsql as $$
declare held text; mintable_until timestamptz;
begin
  select kind into held from claim where canonical = p_canonical for update;
  select mint_until into mintable_until from emoji_id where canonical = p_canonical for update;
  if not found then return '{"outcome": "absent"}'; end if;
  if held = 'transfer' then return '{"outcome": "in_transfer"}'; end if;
  if mintable_until > now() then
    return jsonb_build_object('outcome', 'mintable', 'until', wire_time(mintable_until));
  end if;
  delete from emoji_id where canonical = p_canonical;
  delete from emoji_id_view where canonical = p_canonical;
  delete from claim where canonical = p_canonical;
  perform put_freed(array[p_canonical]);
  return jsonb_build_object('outcome', 'destroyed', 'events', put_events(jsonb_build_array(
    jsonb_build_object('channel', 'emoji_id:' || p_canonical, 'type', 'emoji_id.released',
                       'data', jsonb_build_object('emoji_id', p_canonical)),
    jsonb_build_object('channel', 'market', 'type', 'market.released',
                       'data', jsonb_build_object('emoji_id', p_canonical)))));
end $$;
