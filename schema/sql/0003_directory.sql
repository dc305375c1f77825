-- A registered id. Whether it may be taken is decided by the claim table, not here.
create table emoji_id (
  canonical     text        primary key,
  owner_id      uuid        not null references app_user,
  pubkey        text,
  token_id      bigint      generated always as identity unique,
  generation    int         not null default 0,
  source        text        not null,                 -- order:…, lootbox:…, admin, demo
  version       bigint      not null default 1,        -- rises with every change of the id
  minted_at     timestamptz,
  blocked_until timestamptz,
  registered_at timestamptz not null default now(),
  updated_at    timestamptz not null default now()
);
create index emoji_id_owner on emoji_id (owner_id, registered_at);
create index emoji_id_pubkey on emoji_id (pubkey) where pubkey is not null;
create index emoji_id_registered on emoji_id (registered_at desc);

create table record (
  canonical  text        not null references emoji_id on delete cascade,
  hash       text        not null,
  tag        int         not null check (tag between 0 and 65535),
  data       text        not null,
  seq        bigint      generated always as identity,
  linked_key text,                                     -- the store key this record was written with
  created_at timestamptz not null default now(),
  primary key (canonical, hash)
);

create function put_grants(p jsonb) returns void language sql as $$
  insert into emoji_id (canonical, owner_id, pubkey, source)
  select x.canonical, x.owner_id, x.pubkey, x.source
    from jsonb_to_recordset(p) as x(canonical text, owner_id uuid, pubkey text, source text) order by x.canonical
$$;

create function put_moves(p jsonb) returns void language plpgsql as $$
declare moved int;
begin
  delete from record r using jsonb_to_recordset(p) as x(canonical text, clear_records boolean)
   where r.canonical = x.canonical and x.clear_records;
  update emoji_id e
     set owner_id = x.owner_id, pubkey = x.pubkey, version = e.version + 1, updated_at = now(),
         blocked_until = now() + make_interval(secs => x.blocked_seconds)
    from jsonb_to_recordset(p) as x(canonical text, owner_id uuid, pubkey text, blocked_seconds int)
   where e.canonical = x.canonical;
  get diagnostics moved = row_count;
  if moved <> jsonb_array_length(p) then raise exception 'an id that is not registered cannot move'; end if;
end $$;
