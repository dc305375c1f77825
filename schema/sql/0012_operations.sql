-- Parts of the demo data that this database already has.
create table demo_part (
  name text        primary key,
  at   timestamptz not null default now()
);
