-- Orders are entities; this is what stands beside them: money, codes, payment methods, repeated requests, the sandbox.

-- A user has one cart: at most one order that is still open.
create unique index entity_open_order on entity (owner_id)
  where kind = 'order' and status in ('Draft', 'PendingPayment');

-- An order as a live subscription shows it first: what the events on its channel say, for every item.
create function order_facts(e entity) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'id', e.id, 'order_id', e.id, 'status', e.status,
    'expires_at', case when e.status = 'PendingPayment' then e.state->'context'->'checkout'->'expiresAt' end,
    'created_at', wire_time(e.created_at), 'updated_at', wire_time(e.updated_at),
    'total_in_cents', (select coalesce(sum((i->>'cents')::bigint), 0) from jsonb_array_elements(e.state->'context'->'items') i),
    'items', (select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                'id', i->'id', 'item_type', i->'type', 'emoji_id', i->'emojiId', 'main_id', i->'lootboxId',
                'parent_id', i->'parentId', 'unit_price_in_cents', i->'cents')) order by n), '[]')
                from jsonb_array_elements(e.state->'context'->'items') with ordinality as x(i, n))))
$$;

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

-- Double entry is a rule of the table, not of its callers: whatever is inserted, each journal it touches sums to zero.
create function check_journals_balance() returns trigger language plpgsql as $$
begin
  if exists (select 1 from ledger_line l where l.journal_id in (select journal_id from fresh)
              group by l.journal_id having sum(l.cents) <> 0) then
    raise exception using errcode = 'EI009', message = 'a journal does not sum to zero';
  end if;
  return null;
end $$;
create trigger ledger_line_balances after insert on ledger_line
  referencing new table as fresh for each statement execute function check_journals_balance();

-- What is booked stays booked: a mistake is corrected by another journal.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception using errcode = 'EI009', message = format('%s is only added to', tg_table_name);
end $$;
create trigger ledger_line_stays before update or delete on ledger_line
  for each statement execute function refuse_change();
create trigger journal_stays before update or delete on journal
  for each statement execute function refuse_change();

create function put_ledger(p_order uuid, p jsonb) returns void language sql as $$
  with line as (
    select x.account, x.cents, x.reference from jsonb_to_recordset(p) as x(account text, cents bigint, reference text)
  ), booked as (
    insert into journal (order_id, reference) select distinct p_order, reference from line order by 2 returning id, reference
  )
  insert into ledger_line (journal_id, account, cents)
  select b.id, l.account, sum(l.cents) from line l join booked b using (reference)
   group by b.id, l.account having sum(l.cents) <> 0
$$;

-- What the books and the orders say of each other's money, in cents. Zero or something is wrong.
create function ledger_audit() returns bigint language sql stable as $$
  with booked as (
    select j.order_id, sum(l.cents) filter (where l.account like 'funds:%') as funds, abs(sum(l.cents)) as off
      from journal j join ledger_line l on l.journal_id = j.id group by j.order_id
  ), told as (
    select e.id as order_id,
           (select coalesce(sum((x->>'cents')::bigint), 0) from jsonb_array_elements(e.state->'context'->'payments') x)
         - (select coalesce(sum((x->>'cents')::bigint), 0) from jsonb_array_elements(e.state->'context'->'refunds') x
             where x->>'status' = 'Refunded') as funds
      from entity e where e.kind = 'order' and e.state->'context' ? 'payments'
       and (e.state->'context'->'payments' <> '[]' or e.state->'context'->'refunds' <> '[]')
  )
  select coalesce(sum(coalesce(b.off, 0) + abs(coalesce(b.funds, 0) - coalesce(t.funds, 0))), 0)::bigint
    from booked b full join told t using (order_id)
$$;

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
-- People type codes in any case. A deleted code leaves its text to the next one.
create unique index code_redemption on code (upper(redemption_code)) where deleted_at is null;
create index code_created on code (created_at desc, id);
create index code_organization on code (organization_id) where organization_id is not null;

-- Uses an order has of a code. One use is one id.
create table code_use (
  code_id  uuid        not null references code,
  order_id uuid        not null,
  user_id  uuid        not null,
  count    int         not null check (count >= 0),
  at       timestamptz not null default now(),
  primary key (code_id, order_id)
);
create index code_use_user on code_use (code_id, user_id);

-- The code's row lock puts its uses in a line, so both limits are exact. A negative count gives uses back.
create function put_code_uses(p_order uuid, p jsonb) returns void language plpgsql as $$
declare u record; per_user int;
begin
  if p @? '$[*].activation' then perform put_activations(p_order, p); end if;
  for u in select x.code_id, x.user_id, sum(x.count)::int as count
             from jsonb_to_recordset(p) as x(code_id uuid, user_id uuid, count int)
            group by x.code_id, x.user_id order by x.code_id
  loop
    update code set uses = uses + u.count
     where id = u.code_id
       and (u.count <= 0 or (deleted_at is null and (max_uses is null or uses + u.count <= max_uses)))
    returning max_emojis_per_user into per_user;
    if not found then
      raise exception using errcode = 'EI003', message = 'limit reached', detail = 'code_uses';
    end if;
    if u.count < 0 then
      update code_use set count = count + u.count where code_id = u.code_id and order_id = p_order;
      continue;
    end if;
    insert into code_use as c (code_id, order_id, user_id, count) values (u.code_id, p_order, u.user_id, u.count)
      on conflict (code_id, order_id) do update set count = c.count + excluded.count;
    if (select sum(count) from code_use where code_id = u.code_id and user_id = u.user_id) > per_user then
      raise exception using errcode = 'EI003', message = 'limit reached', detail = 'code_uses_per_user';
    end if;
  end loop;
end $$;

create function put_free_ids(p jsonb) returns void language plpgsql as $$
declare f record;
begin
  for f in select x.user_id, x.count from jsonb_to_recordset(p) as x(user_id uuid, count int) order by x.user_id loop
    update app_user set free_used = free_used + f.count, updated_at = now()
     where id = f.user_id and free_used + f.count <= free_limit;
    if not found then
      raise exception using errcode = 'EI003', message = 'limit reached', detail = 'free_ids';
    end if;
  end loop;
end $$;

-- How users have paid before. Only what may be shown; the provider keeps the rest.
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
create index payment_method_user on payment_method (user_id, created_at) where deleted_at is null;

-- One request per key and caller. The answer is sealed: it may hold tokens.
create table idempotency_key (
  caller       text        not null,
  key          text        not null,
  request_hash text        not null,
  run          uuid        not null,
  leased_until timestamptz,                  -- set while the first request runs; a crash frees the key when it passes
  status       int,
  answer       text,
  created_at   timestamptz not null default now(),
  primary key (caller, key)
) with (fillfactor = 80);
create index idempotency_key_created on idempotency_key (created_at);

-- 'run': the caller's turn. 'repeat': here is the answer. 'running' and 'other': somebody has the key.
create function begin_once(p_caller text, p_key text, p_hash text, p_run uuid, p_lease_seconds int, p_keep_seconds int)
returns table (outcome text, status int, answer text) language plpgsql as $$
declare k idempotency_key;
begin
  insert into idempotency_key as i (caller, key, request_hash, run, leased_until)
  values (p_caller, p_key, p_hash, p_run, clock_timestamp() + make_interval(secs => p_lease_seconds))
  on conflict (caller, key) do update
     set request_hash = excluded.request_hash, run = excluded.run, leased_until = excluded.leased_until,
         status = null, answer = null, created_at = now()
   where i.run = excluded.run
      or i.created_at < clock_timestamp() - make_interval(secs => p_keep_seconds)
      or (i.status is null and i.leased_until < clock_timestamp() and i.request_hash = excluded.request_hash)
  returning i.* into k;
  if found then return query select 'run', null::int, null::text; return; end if;
  select * into k from idempotency_key i where i.caller = p_caller and i.key = p_key;
  return query select
    case when k.request_hash is distinct from p_hash then 'other' when k.status is null then 'running' else 'repeat' end,
    k.status, k.answer;
end $$;

-- The payment provider built in for demonstrations and tests. To the orders it is as foreign as any other.
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

-- Webhooks on their way to us: sent until they are answered with success.
create table sandbox_webhook (
  id           bigint      generated always as identity primary key,
  payload      text        not null,
  due_at       timestamptz not null default now(),
  tries        int         not null default 0,
  delivered_at timestamptz
);
create index sandbox_webhook_due on sandbox_webhook (due_at) where delivered_at is null;
