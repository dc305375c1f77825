-- Turns that are committed together are written as sets: one statement per kind of row, where there was one for each row.
-- commit_turns stays for processes of the version before.

-- A plan is kept for as long as its connection, and tables that are small when it is made grow: the functions below are few
-- rows long at one end, whatever the other, so they go by the index from the start.

-- Orders are just above the size from which Postgres tries to make rows smaller, at every turn.
alter table entity set (toast_tuple_target = 8160);

-- As before. Each step goes by the order of the ids: what is taken from its holder is locked, then what is free is taken, then
-- what is locked is moved. Who wants to take an id waits for one that is being taken or moved, not for one that is locked. So
-- nobody waits for a statement that is a step behind, and no two wait for each other.
create or replace function put_claims(p jsonb) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare locked bigint[] := '{}'; left_over bigint[]; want record; taken text[]; lost bigint[];
begin
  if p @? '$[*].from_holder' then
    locked := array(
      select w.n from (
        select x.canonical, x.from_holder, x.n
          from rows from (jsonb_to_recordset(p) as (canonical text, from_holder uuid)) with ordinality
               as x(canonical, from_holder, n) order by x.canonical, x.n) w
        join claim c on c.canonical = w.canonical and c.holder = w.from_holder for update of c);
  end if;

  with want as materialized (
    select x.canonical, x.kind, x.holder, x.owner_id, x.held, x.n
      from rows from (jsonb_to_recordset(p) as (canonical text, kind text, holder uuid, owner_id uuid, held boolean))
           with ordinality as x(canonical, kind, holder, owner_id, held, n)
     where x.n <> all(locked) order by x.canonical, x.n
  ), made as (
    insert into claim (canonical, kind, holder, owner_id)
    select w.canonical, w.kind, w.holder, w.owner_id from want w where w.held is not true
    on conflict (canonical) do nothing returning canonical, holder
  )
  select array_agg(w.n) into left_over from want w
   where (w.canonical, w.holder) not in (select m.canonical, m.holder from made m);

  if locked <> '{}' then
    update claim c set kind = w.kind, holder = w.holder, owner_id = w.owner_id, claimed_at = now()
      from rows from (jsonb_to_recordset(p) as (canonical text, kind text, holder uuid, owner_id uuid))
           with ordinality as w(canonical, kind, holder, owner_id, n)
     where w.n = any(locked) and c.canonical = w.canonical;
  end if;
  if left_over is null then return; end if;

  -- Of these some may be their holder's already.
  for want in
    select x.canonical, x.kind, x.holder, x.owner_id, coalesce(x.from_holder, x.holder) as from_holder, x.n
      from rows from (jsonb_to_recordset(p)
             as (canonical text, kind text, holder uuid, owner_id uuid, from_holder uuid)) with ordinality
           as x(canonical, kind, holder, owner_id, from_holder, n)
     where x.n = any(left_over) order by x.canonical, x.n
  loop
    update claim c set kind = want.kind, holder = want.holder, owner_id = want.owner_id, claimed_at = now()
     where c.canonical = want.canonical and c.holder = want.from_holder;
    if not found then
      taken := array_append(taken, want.canonical);
      lost := array_append(lost, want.n);
    end if;
  end loop;
  if taken is not null then
    raise exception using errcode = 'EI002', message = 'taken', detail = array_to_json(taken)::text,
                          hint = array_to_json(lost)::text;
  end if;
end $$;

alter function put_grants(jsonb) set enable_seqscan = off;
alter function put_grants(jsonb) set enable_hashjoin = off;
alter function put_grants(jsonb) set enable_mergejoin = off;

-- The channels, each named once and with how many events it gets, and the events: the number of its channel, and how many
-- come after it there. Answers where each of the channels has come to, and the epoch and the time they share. An epoch of
-- null: not all of them have the same one. Channels are locked in the order of their names, as everywhere; mostly they are
-- given in that order.
create function place_said(p jsonb) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  given text[] := array(select c->>'name' from jsonb_array_elements(p->'channels') c);
  names text[]; ends bigint[]; epoch_of uuid := live_epoch(); is_shared boolean;
begin
  with moved as (
    insert into channel as c (name, "offset", epoch)
    select x.name, x.events, epoch_of from jsonb_to_recordset(p->'channels') as x(name text, events int) order by x.name
    on conflict (name) do update set "offset" = c."offset" + excluded."offset"
    returning c.name, c."offset", c.epoch
  )
  select array_agg(m.name), array_agg(m."offset"), bool_and(m.epoch = epoch_of) into names, ends, is_shared from moved m;
  if names <> given then
    ends := array(select m."end" from unnest(given) with ordinality as g(name, number)
                    join unnest(names, ends) as m(name, "end") using (name) order by g.number);
  end if;
  insert into event (channel, "offset", type, data)
  select given[x.channel], ends[x.channel] - x.after, x.type, x.data
    from jsonb_to_recordset(p->'events') as x(channel int, after int, type text, data jsonb);
  return jsonb_build_object('epoch', case when is_shared then epoch_of end, 'at', wire_time(now()), 'ends', ends);
end $$;

-- Answers what place_said does, and nothing when these very turns have been committed before. Raises EI001 (detail: their
-- entities) when another turn came before some of them, EI002 when ids are held by someone else.
create function commit_batch(p jsonb, said jsonb) returns jsonb language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  begun int := 0; gone_on int := 0; given int := 0; late uuid[]; repeated int; places jsonb;
begin
  if p ? 'begun' then
    insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, due_at)
    select x.kind, x.id, 1, x.turn, x.status, x.state, x.owner_id, x.peer_id, x.subject, x.due_at
      from jsonb_to_recordset(p->'begun')
             as x(kind text, id uuid, turn uuid, status text, state jsonb, owner_id uuid, peer_id uuid, subject text,
                  due_at timestamptz)
     order by x.kind, x.id
    on conflict (kind, id) do nothing;
    get diagnostics begun = row_count;
    given := jsonb_array_length(p->'begun');
  end if;
  if p ? 'turned' then
    update entity e
       set version = t.expected + 1, turn = t.turn, status = t.status, state = t.state, owner_id = t.owner_id,
           peer_id = t.peer_id, subject = t.subject, due_at = t.due_at, leased_until = null, updated_at = now()
      from (select * from jsonb_to_recordset(p->'turned')
             as x(kind text, id uuid, expected int, turn uuid, status text, state jsonb, owner_id uuid, peer_id uuid,
                  subject text, due_at timestamptz)
             order by x.kind, x.id offset 0) t
     where e.kind = t.kind and e.id = t.id and e.version = t.expected;
    get diagnostics gone_on = row_count;
    given := given + jsonb_array_length(p->'turned');
  end if;
  if begun + gone_on < given then
    select array_agg(x.id), count(*) filter (where e.turn = x.turn) into late, repeated
      from jsonb_to_recordset(coalesce(p->'begun', '[]') || coalesce(p->'turned', '[]')) as x(kind text, id uuid, turn uuid)
      left join entity e on e.kind = x.kind and e.id = x.id
     where e.xmin is distinct from pg_current_xact_id()::xid;
    if repeated = given then return null; end if;
    raise exception using errcode = 'EI001', message = 'version conflict', detail = array_to_json(late)::text;
  end if;

  if p ? 'claims' then perform put_claims(p->'claims'); end if;
  if p ? 'releases' then
    perform put_releases(x.id, x.list) from jsonb_to_recordset(p->'releases') as x(id uuid, list jsonb);
  end if;
  if p ? 'grants' then perform put_grants(p->'grants'); end if;
  if p ? 'moves' then perform put_moves(p->'moves'); end if;
  if p ? 'ledger' then perform put_ledger(p->'ledger'); end if;
  if p ? 'sandbox_intents' then perform put_sandbox_intents(p->'sandbox_intents'); end if;
  if p ? 'uses' then
    perform put_code_uses(x.id, x.list) from jsonb_to_recordset(p->'uses') as x(id uuid, list jsonb);
  end if;
  if p ? 'free_ids' then perform put_free_ids(p->'free_ids'); end if;
  if p ? 'mail' then perform put_mail(p->'mail'); end if;
  if said is not null then places := place_said(said); end if;
  return places;
end $$;
