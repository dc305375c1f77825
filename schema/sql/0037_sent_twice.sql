-- As before; but of several that take an id from the same holder with one statement, as transfers asked for at once do, only
-- the first has it. The others were taken to have it too: of their transfers none could ever be accepted, deleted or end.
-- Each step goes by the order of the ids: what is taken from its holder is locked, then what is free is taken, then
-- what is locked is moved. Who wants to take an id waits for one that is being taken or moved, not for one that is locked. So
-- nobody waits for a statement that is a step behind, and no two wait for each other.
create or replace function put_claims(p jsonb) returns void language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare locked bigint[] := '{}'; left_over bigint[]; want record; taken text[]; lost bigint[];
begin
  if p @? '$[*].from_holder' then
    locked := array(
      select w.n from (
        select distinct on (x.canonical, x.from_holder) x.canonical, x.from_holder, x.n
          from rows from (jsonb_to_recordset(p) as (canonical text, from_holder uuid)) with ordinality
               as x(canonical, from_holder, n) order by x.canonical, x.from_holder, x.n) w
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

-- Those that are there have nothing to give back: they are deleted, as their senders would have.
update entity e
   set status = 'Deleted', version = e.version + 1, turn = gen_random_uuid(), due_at = null, leased_until = null, updated_at = now(),
       state = jsonb_set(jsonb_set(e.state, '{value}', '"Deleted"'), '{context,deletedAt}', to_jsonb(wire_time(now())))
 where e.kind = 'transfer' and e.status in ('AwaitingSender', 'AwaitingReceiver')
   and not exists (select 1 from claim c where c.canonical = e.subject and c.holder = e.id);
