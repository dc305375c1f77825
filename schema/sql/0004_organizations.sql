create table organization (
  id           uuid        primary key default gen_random_uuid(),
  name         text        not null,
  partner_path text        unique,
  return_link  text,
  branding     jsonb       not null default '{}',
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now()
);

create table organization_member (
  organization_id uuid not null references organization on delete cascade,
  user_id         uuid not null references app_user on delete cascade,
  role            text not null,
  created_at      timestamptz not null default now(),
  primary key (organization_id, user_id)
);
create index organization_member_user on organization_member (user_id);
