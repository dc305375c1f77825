-- Takes an id out of the directory, but not while its owner may mint it: whoever had it next would own what somebody else
-- mints. The claim is locked first, as by those who permit.
create function release_emoji_id(p_canonical text) returns jsonb language plpgsql as $$
declare until timestamptz;
begin
  perform 1 from claim where canonical = p_canonical for update;
  select mint_until into until from emoji_id where canonical = p_canonical for update;
  if until > now() then return jsonb_build_object('outcome', 'mintable', 'until', wire_time(until)); end if;
  return destroy_emoji_id(p_canonical);
end $$;
