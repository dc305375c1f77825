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
