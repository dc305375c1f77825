/** What a simulated day adds. `rows` is the number of operations; `sql` stores their rows, at random times of the day. */
export interface Traffic {
  readonly what: string
  readonly rows: number
  readonly sql: string
}

const ids = 10_000
const users = 2_000
const user = `('00000000-0000-4000-8000-' || lpad(to_hex(n % ${users}), 12, '0'))::uuid`
/** A random time of the day. */
const at = "pg_catalog.random() * interval '23 hours' + now()"
/** The state of an order with one id is about as large as this. */
const orderState = (facts: string) =>
  `jsonb_build_object('value', 'x', 'context', ${facts} || jsonb_build_object('filler', repeat(md5(n::text), 40)))`
const sealed = (bytes: number) => `repeat(md5(random()::text), ${Math.round(bytes / 32)})`

/** Stores events and their channels. `rows` selects channel, offset, type, data and at of each event. */
const events = (rows: string) => `
  with said as materialized (${rows}), moved as (
    insert into channel as c (name, "offset") select channel, max("offset") from said group by channel
    on conflict (name) do update set "offset" = greatest(c."offset", excluded."offset"))
  insert into event (channel, "offset", type, data, at) select channel, "offset", type, data, at from said
  on conflict do nothing`

const eventData = "jsonb_build_object('id', n, 'filler', repeat('x', 250))"

/** The rows of the users and ids, which do not grow. */
export const prepared = `
  insert into app_user (id, email) select ${user}, n || '@example.com' from generate_series(0, ${users - 1}) n`

/**
 * The stated traffic of one day. $1 is the number of the day. A directory with a hundred times as many users has a hundred
 * times as much of everything.
 */
export const dailyTraffic: ReadonlyArray<Traffic> = [
  {
    what: "ids that are looked up",
    rows: ids,
    sql: `insert into emoji_id_view (canonical, day, views) select 'id' || n, now()::date, n from generate_series(1, $2::int) n where $1::int > 0`,
  },
  {
    what: "edits of records",
    rows: 5_000,
    sql: events(`select 'emoji_id:id' || k as channel, $1::bigint * 3 + n / ${ids} as "offset", 'emoji_id.records' as type,
                        ${eventData} as data, ${at} as at
                   from (select n, ($1::int * 5000 + n) % ${ids} as k from generate_series(1, $2::int) n) x`),
  },
  {
    what: "requests with an Idempotency-Key",
    rows: 2_000,
    sql: `insert into idempotency_key (caller, key, request_hash, run, status, answer, created_at)
          select 'session/' || ${user}, gen_random_uuid(), md5('x') || md5('y'), gen_random_uuid(), 200, ${sealed(700)}, ${at}
            from generate_series(1, $2::int) n where $1::int > 0`,
  },
  {
    what: "rate limit windows",
    rows: 2_000,
    sql: `insert into rate_window (key, used, resets_at) select 'write/' || $1::int || '/' || n, 3, ${at} from generate_series(1, $2::int) n`,
  },
  {
    what: "mails",
    rows: 1_000,
    sql: `insert into outbox (recipient, kind, payload, at, sent_at)
          select n || '@example.com', 'receipt', ${sealed(900)}, now() + n * interval '1 second', now() + n * interval '1 second'
            from generate_series(1, $2::int) n where $1::int > 0`,
  },
  {
    what: "security events",
    rows: 1_000,
    sql: `insert into security_log (id, user_id, event, at, last_at, via, address, user_agent)
          select gen_random_uuid(), ${user}, 'login.succeeded', t, t, 'session', '192.0.2.1', repeat('x', 110)
            from (select n, ${at} as t from generate_series(1, $2::int) n where $1::int > 0) x`,
  },
  {
    what: "logins by link, each with a session that ends",
    rows: 500,
    sql: `with links as (
            insert into magic_link (token_hash, user_id, email, purpose, expires_at, created_at)
            select md5($1::int || '/' || n) || md5('x'), ${user}, n || '@example.com', 'login', now() + interval '15 minutes', now()
              from generate_series(1, $2::int) n), used as (
            insert into session_use (session_id, used_at) select gen_random_uuid(), ${at} from generate_series(1, $2::int) n)
          insert into entity (kind, id, version, turn, status, state, owner_id, created_at, updated_at)
          select 'session', gen_random_uuid(), 3, gen_random_uuid(), 'Revoked', jsonb_build_object('filler', repeat(md5(n::text), 20)),
                 ${user}, now(), ${at} from generate_series(1, $2::int) n`,
  },
  {
    what: "events of sessions and carts of users",
    rows: 1_500,
    sql: events(`select case n % 3 when 0 then 'session:' else 'cart:' end || ${user} as channel,
                        (select channel_floor from live_epoch) + $1::bigint * 10 + n / ${users} as "offset", 'cart.changed' as type,
                        ${eventData} as data, ${at} as at from generate_series(1, $2::int) n`),
  },
  {
    what: "orders that are cancelled without a payment",
    rows: 200,
    sql: `insert into entity (kind, id, version, turn, status, state, owner_id, created_at, updated_at)
          select 'order', gen_random_uuid(), 4, gen_random_uuid(), 'Cancelled', ${orderState(
            `jsonb_build_object('payments', '[]'::jsonb, 'refunds', '[]'::jsonb, 'codes', '[]'::jsonb, 'intent', null,
                                'cancelled', jsonb_build_object('at', wire_time(now())))`,
          )}, ${user}, now(), now() from generate_series(1, $2::int) n where $1::int > 0`,
  },
  {
    what: "orders that are paid",
    rows: 100,
    sql: `with made as (
            insert into entity (kind, id, version, turn, status, state, owner_id, created_at, updated_at)
            select 'order', gen_random_uuid(), 4, gen_random_uuid(), 'Paid', ${orderState("'{}'::jsonb")},
                   ${user}, now() + interval '1 hour', now() from generate_series(1, $2::int) n where $1::int > 0 returning id
          ), booked as (insert into journal (order_id, reference, at) select id, 'bench:' || id, now() from made returning id)
          insert into ledger_line (journal_id, account, cents)
          select id, account, cents from booked, (values ('funds:bench', 400), ('revenue:bench', -400)) as l(account, cents)`,
  },
  {
    what: "channels of orders and transfers, with three events each",
    rows: 350,
    sql: events(`select case n % 7 when 0 then 'transfer:' else 'order:' end || md5($1::int || '/' || n) as channel,
                        (select channel_floor from live_epoch) + step as "offset", 'order.changed' as type,
                        ${eventData} as data, ${at} as at from generate_series(1, $2::int) n, generate_series(1, 3) step`),
  },
  {
    what: "transfers",
    rows: 50,
    sql: `insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, created_at, updated_at)
          select 'transfer', gen_random_uuid(), 3, gen_random_uuid(), 'Accepted', jsonb_build_object('filler', repeat(md5(n::text), 25)),
                 ${user}, ${user}, 'id' || n, now(), now() from generate_series(1, $2::int) n where $1::int > 0`,
  },
]
