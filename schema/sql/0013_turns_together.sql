-- Turns that wait for the database are committed together: one statement for many costs each of them less than half, and one
-- flush of the log serves them all. All or none: when some are refused the statement says which, and whoever sent it sends
-- the others again without them. Effects of one kind come as one list over all the turns, so rows are locked kind by kind and
-- in order, as by a single turn. commit_turn stays for processes of the version before.

create function put_ledger(p jsonb) returns void language sql as $$
  with line as (
    select x.order_id, x.account, x.cents, x.reference
      from jsonb_to_recordset(p) as x(order_id uuid, account text, cents bigint, reference text)
  ), booked as (
    insert into journal (order_id, reference)
    select distinct order_id, reference from line order by 1, 2 returning id, order_id, reference
  )
  insert into ledger_line (journal_id, account, cents)
  select b.id, l.account, sum(l.cents) from line l join booked b using (order_id, reference)
   group by b.id, l.account having sum(l.cents) <> 0
$$;

create function put_sandbox_intents(p jsonb) returns void language plpgsql as $$
begin
  insert into sandbox_intent (id, session_id, order_id, method, cents, success_url, cancel_url)
  select x.id, x.session_id, x.order_id, x.method, x.cents, x.success_url, x.cancel_url
    from jsonb_to_recordset(p) as x(id text, session_id text, order_id uuid, method text, cents bigint,
                                    success_url text, cancel_url text)
   order by x.id
  on conflict (id) do nothing;
end $$;

-- As before, and the hint says which of the claims they are, counted from one: of many turns only some may want them.
create or replace function put_claims(p jsonb) returns void language plpgsql as $$
declare want record; taken text[]; lost bigint[];
begin
  for want in
    select x.canonical, x.kind, x.holder, x.owner_id, coalesce(x.from_holder, x.holder) as from_holder, x.held, x.n
      from rows from (jsonb_to_recordset(p)
             as (canonical text, kind text, holder uuid, owner_id uuid, from_holder uuid, held boolean)) with ordinality
           as x(canonical, kind, holder, owner_id, from_holder, held, n)
     order by x.canonical, x.n
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

-- Answers what place_events does, and nothing when these very turns have been committed before. Raises EI001 (detail: their
-- entities) when another turn came before some of them, EI002 when ids are held by someone else.
create function commit_turns(p jsonb) returns jsonb language plpgsql as $$
declare
  t record; late uuid[]; repeated int := 0; places jsonb;
begin
  for t in
    select * from jsonb_to_recordset(p->'turns')
           as x(kind text, id uuid, expected int, turn uuid, status text, state jsonb, owner_id uuid, peer_id uuid,
                subject text, due_at timestamptz)
     order by x.kind, x.id
  loop
    if t.expected = 0 then
      insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, due_at)
      values (t.kind, t.id, 1, t.turn, t.status, t.state, t.owner_id, t.peer_id, t.subject, t.due_at)
      on conflict (kind, id) do nothing;
    else
      update entity e
         set version = t.expected + 1, turn = t.turn, status = t.status, state = t.state, owner_id = t.owner_id,
             peer_id = t.peer_id, subject = t.subject, due_at = t.due_at, leased_until = null, updated_at = now()
       where e.kind = t.kind and e.id = t.id and e.version = t.expected;
    end if;
    if found then continue; end if;
    late := array_append(late, t.id);
    if exists (select 1 from entity e where e.kind = t.kind and e.id = t.id and e.turn = t.turn) then
      repeated := repeated + 1;
    end if;
  end loop;
  if repeated = jsonb_array_length(p->'turns') then return null; end if;
  if late is not null then
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
  if p ? 'events' then places := place_events(p->'events'); end if;
  return places;
end $$;
