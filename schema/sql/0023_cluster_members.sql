-- The processes that may answer requests from their caches. The functions are in functions/cluster.sql.

create table cluster_member (
  id          text        primary key,
  lease_until timestamptz not null,            -- until then, other processes must not commit without its acknowledgement
  joined      integer     not null default 0,      -- how often the process has tried to join
  deaf        boolean     not null default false,  -- it receives nothing through Redis
  open_from   bigint      not null default 0,      -- its marks with lower numbers have ended
  held        jsonb       not null default '[]'    -- marks it has applied, of processes that receive no messages: [[process, number]]
) with (fillfactor = 40);                      -- every row is updated about twice per second
