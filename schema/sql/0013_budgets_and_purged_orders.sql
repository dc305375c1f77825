-- Budgets for the codes of organizations, and what remains of orders that were never paid.

-- How many cents the codes of an organization may discount. The operator grants the budget. An organization without a row has none.
-- functions/orders.sql (put_code_uses) counts the use under the row lock and refuses a use that exceeds the grant. No constraint
-- compares the two columns, because the operator may lower the grant below what is already used.
create table code_budget (
  organization_id uuid        primary key references organization on delete cascade,
  granted_cents   bigint      not null check (granted_cents >= 0),
  used_cents      bigint      not null default 0 check (used_cents >= 0),
  updated_at      timestamptz not null default now()
);

-- What the order charged to the budget of the code's organization. It is given back when the order gives back the uses.
alter table code_use add column cents bigint not null default 0;

-- Orders that were cancelled without a payment and deleted afterwards (functions/orders.sql, purge_orders). A payment that still
-- arrives names the order by its id. The order is then restored without its items, so that the payment is booked and can be
-- refunded.
create table purged_order (
  id           uuid        primary key,
  user_id      uuid        not null,
  created_at   timestamptz not null,
  cancelled_at timestamptz not null,
  purged_at    timestamptz not null default now()
);
create index purged_order_purged on purged_order (purged_at);

-- One row: how far the search for old cancelled orders has come. Shared by all processes. The search walks the primary key of
-- `entity` in parts, round after round. So it needs no index of its own, also finds orders that older releases cancelled, and
-- cancelling an order costs nothing more.
create table order_cleanup (
  only_one boolean     primary key default true check (only_one),
  begun_at timestamptz not null default '-infinity',     -- start of the current or last round
  after    uuid                                          -- where the next part begins; null: with a new round
);
insert into order_cleanup default values;
