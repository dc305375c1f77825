-- Money, codes and payments. Orders are entities. Triggers (functions/triggers.sql) keep the ledger balanced and append-only,
-- and queue deleted payment methods.

-- One booking. Its reference names the fact that caused it (a provider's payment, a refund), so a fact is booked once.
create table journal (
  id        bigint      generated always as identity primary key,
  order_id  uuid        not null,
  reference text        not null constraint journal_reference unique,
  at        timestamptz not null default now()
);
create index journal_order on journal (order_id);

create table ledger_line (
  journal_id bigint not null references journal,
  account    text   not null,
  cents      bigint not null check (cents <> 0),
  primary key (journal_id, account)
);
-- Few orders hold money without being paid: the index lists them (money_held).
create index ledger_held on ledger_line (journal_id) include (cents) where account = 'held';

-- One row: the progress of the ledger audit. Shared by all processes, so that a round completes however often they restart.
create table audit_round (
  only_one      boolean     primary key default true check (only_one),
  begun_at      timestamptz,                            -- start of the current round
  after         uuid,                                   -- where its next part begins; null: with a new round
  cents         bigint      not null default 0,         -- difference found by it so far
  continued_at  timestamptz not null default '-infinity',
  last_begun_at timestamptz,                            -- start of the last completed round; null: none yet
  last_cents    bigint      not null default 0
);
insert into audit_round default values;

create table code (
  id                     uuid        primary key default gen_random_uuid(),
  name                   text        not null,
  code_type              text        not null check (code_type in ('Discount', 'RandomYat')),
  activator              text        not null check (activator in ('RedemptionCode', 'SecretKey')),
  redemption_code        text,
  organization_id        uuid        references organization,
  discount_as_percentage int         check (discount_as_percentage between 1 and 100),
  discount_in_cents      int         check (discount_in_cents > 0),
  max_uses               int         check (max_uses > 0),
  max_emojis_per_user    int         check (max_emojis_per_user > 0),
  uses                   int         not null default 0 check (uses >= 0),
  pattern                jsonb,
  start_date             timestamptz,
  end_date               timestamptz,
  deleted_at             timestamptz,
  created_at             timestamptz not null default now(),
  updated_at             timestamptz not null default now(),
  constraint code_uses_limit check (max_uses is null or uses <= max_uses)
);
-- Codes are not case-sensitive. The text of a deleted code can be used again.
create unique index code_redemption on code (upper(redemption_code)) where deleted_at is null;
create index code_created on code (created_at desc, id);
create index code_organization on code (organization_id) where organization_id is not null;

-- How often an order uses a code. One use is one id.
create table code_use (
  code_id  uuid        not null references code,
  order_id uuid        not null,
  user_id  uuid        not null,
  count    int         not null check (count >= 0),
  at       timestamptz not null default now(),
  primary key (code_id, order_id)
);
create index code_use_user on code_use (code_id, user_id);

-- Keys whose signature lets a user draw an id with the code.
create table code_pubkey (
  code_id    uuid        not null references code on delete cascade,
  pubkey     text        not null,
  created_at timestamptz not null default now(),
  primary key (code_id, pubkey)
);

-- Hashes of the messages that were signed to draw an id. The message has no separator between user and nonce, so the whole message
-- counts: neither the same user nor one whose name continues another's can draw twice with one signature.
create table code_activation (
  code_id  uuid        not null references code on delete cascade,
  digest   text        not null,
  user_id  uuid        not null,
  order_id uuid        not null,
  at       timestamptz not null default now(),
  primary key (code_id, digest)
);

-- How users paid before: only what may be shown. The provider keeps the rest.
create table payment_method (
  id           text        primary key,
  user_id      uuid        not null references app_user on delete cascade,
  provider     text        not null,
  payment_type text        not null,
  brand        text,
  country      text,
  last4        text,
  exp_month    int,
  exp_year     int,
  is_default   boolean     not null default false,
  created_at   timestamptz not null default now(),
  deleted_at   timestamptz
);
-- Not only of those in use: deleting a user must find deleted methods too, without reading those of all users.
create index payment_method_user on payment_method (user_id, created_at);

-- Payment methods that were deleted here and are still to be detached at the provider, which may be unavailable when a user
-- deletes one. The deleting process detaches it at once; after a failure a background worker does it.
create table method_to_forget (
  id       text        primary key,
  provider text        not null,
  at       timestamptz not null default now()
);

-- The built-in payment provider for demonstrations and tests. Orders treat it like any other provider.
create table sandbox_intent (
  id          text        primary key,
  session_id  text        not null unique,
  order_id    uuid        not null,
  method      text        not null,
  cents       bigint      not null check (cents > 0),
  paid_cents  bigint      not null default 0,
  success_url text,
  cancel_url  text,
  status      text        not null default 'open' check (status in ('open', 'cancelled')),
  created_at  timestamptz not null default now()
);

create table sandbox_payment (
  id        text        primary key,
  intent_id text        not null references sandbox_intent,
  cents     bigint      not null,
  outcome   text        not null check (outcome in ('captured', 'declined', 'refunded')),
  at        timestamptz not null default now()
);
create index sandbox_payment_intent on sandbox_payment (intent_id);

-- Webhooks from the sandbox to the service, sent until they are answered with success.
create table sandbox_webhook (
  id           bigint      generated always as identity primary key,
  payload      text        not null,
  due_at       timestamptz not null default now(),
  tries        int         not null default 0,
  delivered_at timestamptz
);
create index sandbox_webhook_due on sandbox_webhook (due_at) where delivered_at is null;
