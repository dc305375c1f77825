-- An intent of the built-in provider needs nobody's answer, so it is made with the turn that wants it: one statement less
-- for each checkout, and no moment at which the order waits for a payment nobody can make.
create function put_sandbox_intents(p_order uuid, p jsonb) returns void language plpgsql as $$
begin
  insert into sandbox_intent (id, session_id, order_id, method, cents, success_url, cancel_url)
  select x.id, x.session_id, p_order, x.method, x.cents, x.success_url, x.cancel_url
    from jsonb_to_recordset(p)
         as x(id text, session_id text, method text, cents bigint, success_url text, cancel_url text)
  on conflict (id) do nothing;
end $$;

-- Raises EI001 when another turn came first, EI002 (detail: the ids) when an id is held by someone else.
create or replace function commit_turn(p jsonb) returns jsonb language plpgsql as $$
declare
  was int := (p->>'expected')::int;
  now_version int; now_turn uuid; given jsonb;
begin
  if was = 0 then
    insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, due_at)
    values (p->>'kind', (p->>'id')::uuid, 1, (p->>'turn')::uuid, p->>'status', p->'state',
            (p->>'owner_id')::uuid, (p->>'peer_id')::uuid, p->>'subject', (p->>'due_at')::timestamptz)
    on conflict (kind, id) do nothing;
  else
    update entity set version = was + 1, turn = (p->>'turn')::uuid, status = p->>'status', state = p->'state',
           owner_id = (p->>'owner_id')::uuid, peer_id = (p->>'peer_id')::uuid, subject = p->>'subject',
           due_at = (p->>'due_at')::timestamptz, leased_until = null, updated_at = now()
     where kind = p->>'kind' and id = (p->>'id')::uuid and version = was;
  end if;
  if not found then
    select version, turn into now_version, now_turn from entity where kind = p->>'kind' and id = (p->>'id')::uuid;
    if now_turn = (p->>'turn')::uuid then
      return jsonb_build_object('version', now_version, 'events', '[]'::jsonb, 'repeated', true);
    end if;
    raise exception using errcode = 'EI001', message = 'version conflict';
  end if;

  if p ? 'claims' then perform put_claims(p->'claims'); end if;
  if p ? 'releases' then perform put_releases((p->>'id')::uuid, p->'releases'); end if;
  if p ? 'grants' then perform put_grants(p->'grants'); end if;
  if p ? 'moves' then perform put_moves(p->'moves'); end if;
  if p ? 'ledger' then perform put_ledger((p->>'id')::uuid, p->'ledger'); end if;
  if p ? 'sandbox_intents' then perform put_sandbox_intents((p->>'id')::uuid, p->'sandbox_intents'); end if;
  if p ? 'uses' then perform put_code_uses((p->>'id')::uuid, p->'uses'); end if;
  if p ? 'free_ids' then perform put_free_ids(p->'free_ids'); end if;
  if p ? 'mail' then perform put_mail(p->'mail'); end if;
  if p ? 'events' then given := put_events(p->'events'); end if;
  return jsonb_build_object('version', was + 1, 'events', coalesce(given, '[]'::jsonb));
end $$;

-- A turn has few events and few claims: for so few, short statements whose plans are there already cost less than one that
-- joins, sorts and groups them. Many at once are what `put_events` was made for; it goes on under another name.
alter function put_events(jsonb) rename to put_many_events;

-- Channels are locked in the order of their names: two turns over the same channels cannot deadlock.
create function put_events(p jsonb) returns jsonb language plpgsql as $$
declare
  e jsonb; name_of text; o bigint; epoch_of uuid; given jsonb := '[]'; at_time text := wire_time(now());
begin
  if jsonb_array_length(p) > 8 then return put_many_events(p); end if;
  for e in select x.e from jsonb_array_elements(p) with ordinality as x(e, n) order by x.e->>'channel', x.n
  loop
    name_of := e->>'channel';
    insert into channel as c (name, "offset") values (name_of, 1)
      on conflict (name) do update set "offset" = c."offset" + 1 returning c."offset", c.epoch into o, epoch_of;
    insert into event (channel, "offset", type, data) values (name_of, o, e->>'type', e->'data');
    given := given || jsonb_build_object('channel', name_of, 'offset', o, 'epoch', epoch_of, 'at', at_time);
  end loop;
  return given;
end $$;

-- All ids or none. An id this holder already has may change what holds it (an order's hold becomes owned).
-- `held`: the id must be with from_holder now; that it is free is not enough.
create or replace function put_claims(p jsonb) returns void language plpgsql as $$
declare want record; taken text[];
begin
  for want in
    select x.canonical, x.kind, x.holder, x.owner_id, coalesce(x.from_holder, x.holder) as from_holder, x.held
      from jsonb_to_recordset(p)
           as x(canonical text, kind text, holder uuid, owner_id uuid, from_holder uuid, held boolean)
     order by x.canonical
  loop
    if want.held then
      update claim c set kind = want.kind, holder = want.holder, owner_id = want.owner_id, claimed_at = now()
       where c.canonical = want.canonical and c.holder = want.from_holder;
    else
      insert into claim as c (canonical, kind, holder, owner_id)
      values (want.canonical, want.kind, want.holder, want.owner_id)
      on conflict (canonical) do update
         set kind = excluded.kind, holder = excluded.holder, owner_id = excluded.owner_id, claimed_at = now()
       where c.holder = want.from_holder;
    end if;
    if not found then taken := array_append(taken, want.canonical); end if;
  end loop;
  if taken is not null then
    raise exception using errcode = 'EI002', message = 'taken', detail = array_to_json(taken)::text;
  end if;
end $$;

-- What it is made of is stable, and a function that claims to be more than its parts is called for each value instead of
-- being written out where it is used.
alter function wire_time(timestamptz) stable;
