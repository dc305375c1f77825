-- Transfers and lootboxes are entities; this is what stands beside them.

create table lootbox_type (
  id          uuid        primary key default gen_random_uuid(),
  name        text        not null,
  description text        not null,
  config      jsonb       not null,
  created_at  timestamptz not null default now()
);

-- An id that became free and whose interested users are not all told yet. A worker holds a row by its lease.
create table freed_id (
  canonical    text        primary key,
  freed_at     timestamptz not null default now(),
  first_told   boolean     not null default false,
  due_at       timestamptz not null default now(),
  lease        uuid,
  leased_until timestamptz
);
create index freed_id_due on freed_id (due_at);

-- An id freed again starts over: whoever worked on the earlier release finds the lease gone.
create function put_freed(ids text[]) returns void language sql as $$
  insert into freed_id (canonical) select distinct x from unnest(ids) x where x not like 'lootbox:%' order by 1
  on conflict (canonical) do update
     set freed_at = now(), first_told = false, due_at = now(), lease = null, leased_until = null
$$;

-- Who was told of an id, and when last: an id that comes and goes does not flood anybody.
create table interest_notice (
  user_id   uuid        not null references app_user on delete cascade,
  canonical text        not null,
  told_at   timestamptz not null default now(),
  primary key (user_id, canonical)
);

-- Ids whose interested users are to be told now, leased to this caller. What nobody asked about is done with at once.
create function take_freed(p_lease uuid, p_limit int, p_lease_seconds int)
returns table (canonical text, first_told boolean) language plpgsql as $$
#variable_conflict use_column
begin
  return query
  with due as (
    select f.canonical, exists (select 1 from user_interest i where i.canonical = f.canonical) as wanted
      from freed_id f where f.due_at <= now() and (f.leased_until is null or f.leased_until < now())
     order by f.due_at limit p_limit for update skip locked
  ), unwanted as (
    delete from freed_id f using due d where f.canonical = d.canonical and not d.wanted
  )
  update freed_id f set lease = p_lease, leased_until = now() + make_interval(secs => p_lease_seconds)
    from due d where f.canonical = d.canonical and d.wanted
  returning f.canonical, f.first_told;
end $$;

-- Who is to hear of an id next, in the order they asked; nobody twice within the quiet time.
create function find_untold(p_canonical text, p_limit int, p_quiet_seconds int)
returns table (user_id uuid, email text) language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select i.user_id, u.email from user_interest i
    join app_user u on u.id = i.user_id and u.deactivated_at is null and u.deleted_at is null
    left join interest_notice n on n.user_id = i.user_id and n.canonical = i.canonical
   where i.canonical = p_canonical and (n.told_at is null or n.told_at < now() - make_interval(secs => p_quiet_seconds))
   order by i.created_at, i.id limit p_limit;
end $$;

-- Tells the given users, once: whoever lost the lease, or lost an id to a buyer meanwhile, tells nobody. The rest of the
-- users wait until the first had their head start.
create function tell_freed(p jsonb) returns jsonb language plpgsql as $$
declare f freed_id; given jsonb;
begin
  select * into f from freed_id where canonical = p->>'canonical' and lease = (p->>'lease')::uuid for update;
  if not found then return '[]'; end if;
  if (p->>'done')::boolean or exists (select 1 from claim c where c.canonical = f.canonical) then
    delete from freed_id where canonical = f.canonical;
  else
    update freed_id set first_told = true, lease = null, leased_until = null,
           due_at = now() + make_interval(secs => case when f.first_told then 0 else (p->>'head_start_seconds')::int end)
     where canonical = f.canonical;
  end if;
  if exists (select 1 from claim c where c.canonical = f.canonical) then return '[]'; end if;
  insert into interest_notice (user_id, canonical)
  select x::uuid, f.canonical from jsonb_array_elements_text(p->'users') x order by 1
  on conflict (user_id, canonical) do update set told_at = now();
  perform put_mail(p->'mail');
  given := put_events((select coalesce(jsonb_agg(jsonb_build_object('channel', 'interests:' || x, 'type', 'interest.available',
             'data', jsonb_build_object('emoji_id', f.canonical)) order by n), '[]')
             from jsonb_array_elements_text(p->'users') with ordinality as t(x, n)));
  return given;
end $$;

-- Keys that may let a user draw an id with the code.
create table code_pubkey (
  code_id    uuid        not null references code on delete cascade,
  pubkey     text        not null,
  created_at timestamptz not null default now(),
  primary key (code_id, pubkey)
);

-- What was signed to draw an id, by its hash. It is signed without a mark between the user and the nonce, so the whole
-- message counts: neither the same user nor one whose name continues another's draws twice with one signature.
create table code_activation (
  code_id  uuid        not null references code on delete cascade,
  digest   text        not null,
  user_id  uuid        not null,
  order_id uuid        not null,
  at       timestamptz not null default now(),
  primary key (code_id, digest)
);

create function put_activations(p_order uuid, p jsonb) returns void language plpgsql as $$
begin
  insert into code_activation (code_id, digest, user_id, order_id)
  select x.code_id, x.activation, x.user_id, p_order
    from jsonb_to_recordset(p) as x(code_id uuid, user_id uuid, activation text) where x.activation is not null;
exception when unique_violation then
  raise exception using errcode = 'EI003', message = 'limit reached', detail = 'code_activation';
end $$;
