-- One actor turn, committed whole or not at all, by one statement: select commit_turn(...).

create table entity (
  kind       text        not null,
  id         uuid        not null,
  version    int         not null,
  turn       uuid        not null,          -- the last turn applied: a retry after a lost answer is recognised by it
  status     text        not null,
  state      jsonb       not null,
  owner_id   uuid,
  peer_id    uuid,                          -- the other party, where there is one
  subject    text,                          -- what the entity is about: a canonical id, a type
  due_at     timestamptz,                   -- when the sweeper must wake it
  leased_until timestamptz,                 -- a sweeper is on its way
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (kind, id)
) with (fillfactor = 80);
create index entity_due on entity (due_at) where due_at is not null;
create index entity_owner on entity (kind, owner_id, created_at desc);
create index entity_peer on entity (kind, peer_id, created_at desc) where peer_id is not null;
create index entity_subject on entity (kind, subject) where subject is not null;

-- Scarcity lives here: at most one row per canonical id, whatever holds it.
create table claim (
  canonical  text        primary key,
  kind       text        not null check (kind in ('owned', 'order', 'lootbox', 'transfer')),
  holder     uuid        not null,          -- the order, box or transfer; the owner when owned
  owner_id   uuid,                          -- set while the id is owned, also during its transfer
  claimed_at timestamptz not null default now(),
  check (kind not in ('owned', 'transfer') or owner_id is not null)
);
create index claim_owner on claim (owner_id) where owner_id is not null;
create index claim_holder on claim (holder);

create table channel (
  name     text   primary key,
  epoch    uuid   not null default gen_random_uuid(),
  "offset" bigint not null default 0
) with (fillfactor = 70);

create table event (
  channel  text        not null,
  "offset" bigint      not null,
  type     text        not null,
  data     jsonb       not null,
  at       timestamptz not null default now(),
  primary key (channel, "offset")
);
create index event_at on event (at);

-- Mail and SMS waiting to leave. The payload is sealed: it holds codes and links.
create table outbox (
  id         bigint generated always as identity primary key,
  recipient  text        not null,
  kind       text        not null,
  payload    text        not null,
  at         timestamptz not null default now(),
  due_at     timestamptz not null default now(),
  tries      int         not null default 0,
  sent_at    timestamptz
);
create index outbox_due on outbox (due_at) where sent_at is null;
create index outbox_recipient on outbox (recipient, id desc);

create function put_mail(p jsonb) returns void language sql as $$
  insert into outbox (recipient, kind, payload)
  select x.recipient, x.kind, x.payload from jsonb_to_recordset(p) as x(recipient text, kind text, payload text)
$$;

-- Offsets are given under the channel's row lock, so they follow commit order without holes.
-- Channels are locked in name order: two turns over the same channels cannot deadlock.
create function put_events(p jsonb) returns jsonb language plpgsql as $$
declare e record; o bigint; given jsonb := '[]';
begin
  for e in select x.e->>'channel' as channel, x.e->>'type' as type, x.e->'data' as data
             from jsonb_array_elements(p) with ordinality as x(e, n)
            order by 1, x.n
  loop
    insert into channel as c (name, "offset") values (e.channel, 1)
      on conflict (name) do update set "offset" = c."offset" + 1 returning c."offset" into o;
    insert into event (channel, "offset", type, data) values (e.channel, o, e.type, e.data);
    given := given || jsonb_build_array(jsonb_build_object('channel', e.channel, 'offset', o));
  end loop;
  return given;
end $$;

-- All ids or none. An id this holder already has may change what holds it (an order's hold becomes owned).
-- `held`: the id must be with from_holder now; that it is free is not enough.
create function put_claims(p jsonb) returns void language plpgsql as $$
declare taken text[];
begin
  with want as (
    select x.canonical, x.kind, x.holder, x.owner_id, coalesce(x.from_holder, x.holder) as from_holder,
           coalesce(x.held, false) as held
      from jsonb_to_recordset(p)
           as x(canonical text, kind text, holder uuid, owner_id uuid, from_holder uuid, held boolean)
     order by x.canonical
  ), got as (
    insert into claim (canonical, kind, holder, owner_id)
    select canonical, kind, holder, owner_id from want where not held
    on conflict (canonical) do update
       set kind = excluded.kind, holder = excluded.holder, owner_id = excluded.owner_id, claimed_at = now()
     where claim.holder = (select w.from_holder from want w where w.canonical = claim.canonical)
    returning claim.canonical
  ), moved as (
    update claim c set kind = w.kind, holder = w.holder, owner_id = w.owner_id, claimed_at = now()
      from want w where w.held and c.canonical = w.canonical and c.holder = w.from_holder
    returning c.canonical
  )
  select array_agg(w.canonical order by w.canonical) into taken
    from want w
   where not exists (select 1 from got g where g.canonical = w.canonical)
     and not exists (select 1 from moved m where m.canonical = w.canonical);
  if taken is not null then
    raise exception using errcode = 'EI002', message = 'taken', detail = array_to_json(taken)::text;
  end if;
end $$;

-- Ids nobody holds any more; those who asked for one are told by a worker (put_freed).
create function put_releases(p_holder uuid, p jsonb) returns void language plpgsql as $$
declare freed text[];
begin
  with gone as (
    delete from claim c using (
      select c2.canonical from claim c2
       where c2.canonical in (select jsonb_array_elements_text(p)) and c2.holder = p_holder
       order by c2.canonical for update) r
     where c.canonical = r.canonical returning c.canonical)
  select array_agg(canonical order by canonical) into freed from gone;
  if freed is not null then perform put_freed(freed); end if;
end $$;

-- Raises EI001 when another turn came first, EI002 (detail: the ids) when an id is held by someone else.
create function commit_turn(p jsonb) returns jsonb language plpgsql as $$
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
  if p ? 'uses' then perform put_code_uses((p->>'id')::uuid, p->'uses'); end if;
  if p ? 'free_ids' then perform put_free_ids(p->'free_ids'); end if;
  if p ? 'mail' then perform put_mail(p->'mail'); end if;
  if p ? 'events' then given := put_events(p->'events'); end if;
  return jsonb_build_object('version', was + 1, 'events', coalesce(given, '[]'::jsonb));
end $$;
