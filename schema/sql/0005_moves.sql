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
