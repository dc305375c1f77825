import type { RowsOf } from "./rows.ts"

/** What belongs to orders and codes. Order n belongs to user n. */
export const shopRows: RowsOf = {
  journal: ({ order }) => `(id, order_id, reference) overriding system value
    select n + 1000000000::bigint, ${order}, 'bench:' || n from n`,
  ledger_line: () => `
    (journal_id, account, cents)
    select n + 1000000000::bigint, account, cents from n, (values ('funds:bench', 400), ('revenue:bench', -400)) x(account, cents)`,
  purged_order: ({ order, user }) => `
    (id, user_id, created_at, cancelled_at) select ${order}, ${user}, now(), now() from n`,
  code: ({ organization, user }) => `
    (id, name, code_type, activator, redemption_code, organization_id, discount_in_cents, created_at)
    select ${user}, 'code ' || n, 'Discount', 'RedemptionCode', 'BENCH-' || n, case when n % 2 = 0 then ${organization} end, 5,
           now() - make_interval(secs => n % 1000000) from n`,
  code_use: ({ order, user }) =>
    `(code_id, order_id, user_id, count) select ${user}, ${order}, ${user}, 1 from n`,
  code_pubkey: ({ user }) => `(code_id, pubkey) select ${user}, md5('key ' || n) || md5('end ' || n) from n`,
  code_activation: ({ order, user }) => `
    (code_id, digest, user_id, order_id) select ${user}, md5('activation ' || n), ${user}, ${order} from n`,
  sandbox_intent: ({ order }) => `
    (id, session_id, order_id, method, cents) select 'in_bench_' || n, 'cs_bench_' || n, ${order}, 'CardCheckout', 400 from n`,
  sandbox_payment: () => `
    (id, intent_id, cents, outcome) select 'pay_bench_' || n, 'in_bench_' || n, 400, 'captured' from n`,
  sandbox_webhook: () => `(payload, delivered_at) select '{}', now() from n`,
}

/** What belongs to ids and live channels, and what is stored about requests. */
export const directoryRows: RowsOf = {
  json_store: () =>
    `(canonical, key, data) select canonical, 'VisualizerName', '"moon"' from emoji_id where source like '%bench'`,
  emoji_id_view: () => `
    (canonical, day, views) select canonical, current_date - 1, 3 from emoji_id where source like '%bench'`,
  emoji_id_change: () => `
    (canonical, version, kind, owner_id, added)
    select canonical, version, 'records', owner_id, array[row(16385, md5(canonical), 'bench')::changed_record]
      from emoji_id where source like '%bench'`,
  user_interest: () => `
    (user_id, canonical, created_at)
    select owner_id, canonical, now() - make_interval(secs => row_number() over () % 1000000) from emoji_id where source like '%bench'`,
  interest_notice: () =>
    `(user_id, canonical) select owner_id, canonical from emoji_id where source like '%bench'`,
  channel: ({ user }) => `(name, "offset") select 'bench:' || ${user}, 3 from n`,
  event: ({ user }) => `
    (channel, "offset", type, data, at)
    select 'bench:' || ${user}, 3, case when n % 2 = 0 then 'cart.changed' else 'order.changed' end, '{}', now() - make_interval(secs => n % 3600)
      from n`,
  outbox: () => `
    (recipient, kind, payload, at, sent_at)
    select 'bench-' || n || '@example.com', 'receipt', 'bench', now() - make_interval(secs => n % 3600), now() from n`,
  rate_window: () => `(key, used, resets_at) select 'bench:' || n, 1, now() + interval '1 hour' from n`,
  idempotency_key: ({ user }) => `
    (caller, key, request_hash, run, status, answer) select ${user}::text, 'bench', 'bench', ${user}, 200, 'bench' from n`,
}
