import { Effect } from "effect"
import type { AdminFigures } from "../../schema/operations/admin-figures.ts"
import { maxCounted } from "../../schema/paging.ts"
import { Sql } from "../postgres/sql.ts"

const shownDays = 30

type Stored = Pick<AdminFigures, "days" | "open_holds" | "registered_ids">

/** Reads the figures with one statement. It reads the bookings of the shown days, and at most `maxCounted` ids. */
export const readFigures = Effect.gen(function* () {
  const sql = yield* Sql
  const [row] = yield* sql.rows<Stored>(
    (q) => q`
      with bound as (
        select (now() at time zone 'UTC')::date - ${shownDays - 1}::int as first_day
      ), booked as (
        select (j.at at time zone 'UTC')::date as day, j.order_id, l.account, l.cents
          from journal j
         cross join lateral (select x.account, x.cents from ledger_line x where x.journal_id = j.id offset 0) l
         where j.at >= (select first_day::timestamp at time zone 'UTC' from bound) and l.account in ('sales', 'refunds')
      ), sold as (
        select to_char(first_day + n, 'YYYY-MM-DD') as day,
               count(distinct b.order_id) filter (where b.account = 'sales')::int as orders,
               coalesce(-sum(b.cents) filter (where b.account = 'sales'), 0)::bigint as sales_in_cents,
               coalesce(sum(b.cents) filter (where b.account = 'refunds'), 0)::bigint as refunds_in_cents
          from bound cross join generate_series(0, ${shownDays - 1}::int) n left join booked b on b.day = first_day + n
         group by first_day, n
      )
      select (select jsonb_agg(to_jsonb(s) order by s.day) from sold s) as days,
             (select count(*)::int from (select from entity where kind = 'order' and status = 'PendingPayment'
                order by created_at, id) waiting) as open_holds,
             (select count(*)::int from (select from emoji_id limit ${maxCounted + 1}) counted) as registered_ids`,
  )
  const { days = [], open_holds = 0, registered_ids = 0 } = row ?? {}
  if (registered_ids <= maxCounted) {
    return { days, open_holds, registered_ids, registered_ids_is_estimate: false }
  }
  const [table] = yield* sql.rows<{ rows: number }>(
    (q) => q`select reltuples::bigint as rows from pg_class where oid = 'emoji_id'::regclass`,
  )
  const estimate = Math.max(registered_ids, table?.rows ?? 0)
  return { days, open_holds, registered_ids: estimate, registered_ids_is_estimate: true }
})
